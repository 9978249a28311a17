/**
 * The host as the chaos runs start it: with a lease and a settle time that a run can wait for, and with a store
 * that tells of every write and can die at one of them. No configuration of the product has these.
 *
 * @module
 */
import { writeSync } from 'node:fs'
import { readConfig } from '../../apps/server/src/host.ts'
import { run } from '../../apps/server/src/run.ts'
import { dyingAt, type Order } from './dying-store.ts'

const milliseconds = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise)

const config = readConfig(process.env)
let order: Order | undefined
process.on('message', (next: Order) => {
  order = next
  process.send?.({ armed: true })
})
// A host whose parent is gone is of no use to anybody.
process.on('disconnect', () => process.exit(1))

await run(
  { ...config, idpServer: { ...config.idpServer, settleMs: milliseconds('CHAOS_SETTLE_MS', 60_000) } },
  {
    environment: process.env,
    leaseMs: milliseconds('CHAOS_LEASE_MS', 60_000),
    wrapStore: (store) =>
      dyingAt(store, {
        order: () => order,
        // Written at once, so that it is known even of a process that dies in the next moment.
        tell: (fact) => writeSync(1, `${JSON.stringify({ chaos: fact })}\n`),
        die: (signal) => process.kill(process.pid, signal),
      }),
  },
)
