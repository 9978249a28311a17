/**
 * The host as chaos runs start it. Its lease and its settle time are short, and its store reports every write and
 * can end the process at one of them. The configuration of the product has no such options.
 */
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { readConfig } from '../../apps/server/src/host.ts'
import { run } from '../../apps/server/src/runtimes/run.ts'
import { dyingAt, type Order } from './dying-store.ts'

const config = readConfig(process.env)
let order: Order | undefined
process.on('message', (next: Order) => {
  order = next
  process.send?.({ armed: true })
})
// The process ends with its parent.
process.on('disconnect', () => process.exit(1))

await run(
  {
    ...config,
    leaseMs: Number(process.env.CHAOS_LEASE_MS),
    idpServer: { ...config.idpServer, settleMs: Number(process.env.CHAOS_SETTLE_MS) },
  },
  {
    environment: process.env,
    wrapStore: (store) =>
      dyingAt(store, {
        order: () => order,
        // Synchronously, so that the report arrives even if the process dies next.
        report: (write) => writeSync(1, `${JSON.stringify({ chaos: write })}\n`),
        die: (signal) => process.kill(process.pid, signal),
      }),
  },
)
// Now, because most hosts are killed.
flushCompileCache()
