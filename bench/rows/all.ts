import type { BenchmarkRow } from '../harness/row.ts'
import { bulkSend } from './bulk-send.ts'
import { coldStart } from './cold-start.ts'
import { importing } from './import.ts'
import { memory } from './memory.ts'
import { outboundCall } from './outbound-call.ts'
import { singleSend } from './single-send.ts'
import { throughput } from './throughput.ts'
import { twoProcesses } from './two-processes.ts'

/** Every row, in the order in which it is run and shown. */
export const rows: readonly BenchmarkRow[] = [
  outboundCall,
  singleSend,
  bulkSend,
  importing,
  coldStart,
  throughput,
  memory,
  twoProcesses,
]
