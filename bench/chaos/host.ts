/**
 * The host as chaos runs start it, with a lease and a settle time of the run. Its store reports every write and can
 * end the process at one of them. The configuration of the product has no such options.
 */
import { writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { readConfig } from '../../apps/server/src/host.ts'
import { run } from '../../apps/server/src/runtimes/run.ts'
import type { DeliveryStore } from '../../packages/core/src/index.ts'
import { type Claim, dyingAt, endLeases, type Order } from './dying-store.ts'
import { prepareCaller } from './way.ts'

prepareCaller()
const config = readConfig(process.env)
let order: Order | undefined
let opened: DeliveryStore | undefined
process.on('message', async (message: Order | { endLeases: Claim[] }) => {
  if (!('endLeases' in message)) order = message
  else if (opened) await endLeases(opened, message.endLeases)
  process.send?.({ done: true })
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
    wrapStore(store) {
      opened = store
      return dyingAt(store, {
        order: () => order,
        // Synchronously, so that the report arrives even if the process dies next.
        report: (write) => writeSync(1, `${JSON.stringify({ chaos: write })}\n`),
        die: (signal) => process.kill(process.pid, signal),
      })
    },
  },
)
// Now, because most hosts are killed.
flushCompileCache()
