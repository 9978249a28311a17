/**
 * The host as chaos runs start it, with a lease and a settle time of the run. If CHAOS_STEPS is set, it tells there of
 * each write to its store, before and after, and waits for the answer. The configuration of the product has no such
 * options.
 */
import { flushCompileCache } from 'node:module'
import { readConfig } from '../../apps/server/src/host.ts'
import { run } from '../../apps/server/src/runtimes/run.ts'
import type { DeliveryStore } from '../../packages/core/src/index.ts'
import { prepareCaller } from './way.ts'
import type { Step } from './world.ts'

prepareCaller()
// The process ends with its parent.
process.on('disconnect', () => process.exit(1))
const config = readConfig(process.env)
const { CHAOS_STEPS, CHAOS_LEASE_MS = 30_000, CHAOS_SETTLE_MS = 1_000 } = process.env

/** Tells of every write except renewals. */
function watch(store: DeliveryStore): DeliveryStore {
  if (!CHAOS_STEPS) return store
  async function tell(step: Partial<Step>): Promise<number> {
    const write = { ...step, to: 'store', method: 'PUT' }
    const response = await fetch(`${CHAOS_STEPS}`, { method: 'POST', body: JSON.stringify(write) })
    return response.json()
  }
  const watched =
    <Lease extends object, Rest extends object[], Result>(
      write: (lease: Lease, ...rest: Rest) => Promise<Result>,
    ) =>
    async (lease: Lease & { subject: string; owner?: string }, ...rest: Rest) => {
      const { subject: path, owner = '' } = lease
      const told = { path, claim: { owner, recorded: rest.flatMap(Object.keys) } }
      const number = await tell({ when: 'before', ...told })
      const result = await write(lease, ...rest)
      await tell({ when: 'after', ...told, number })
      return result
    }
  return {
    ...store,
    claim: watched(store.claim),
    advance: watched(store.advance),
    complete: watched(store.complete),
    release: watched(store.release),
    reserve: watched(store.reserve),
  }
}

const idpServer = { ...config.idpServer, settleMs: Number(CHAOS_SETTLE_MS) }
await run(
  { ...config, leaseMs: Number(CHAOS_LEASE_MS), idpServer },
  { environment: process.env, wrapStore: watch },
)
// Now, because most hosts are killed.
flushCompileCache()
