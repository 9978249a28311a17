import type { DeliveryStore } from '../../packages/core/src/index.ts'
import type { Json } from '../../packages/core/src/internal.ts'

/** A claim that a host asked for. */
export interface Claim {
  subject: string
  owner: string
}

/** A write to the store, reported before it begins and when it is done. */
export interface StoreWrite {
  phase: 'begins' | 'done'
  /** Whether the store accepted the write. */
  accepted?: boolean
  /** The calls of a batch that are to be recorded, or taken back. What is recorded of them is encrypted. */
  calls?: Record<string, 'recorded' | 'taken back'>
  claim?: Claim
}

/** Send a signal before or after the n-th write from now on. */
export interface Order {
  write: number
  when: 'before' | 'after'
  signal: 'SIGKILL' | 'SIGSTOP'
}

interface DyingStoreOptions {
  order: () => Order | undefined
  report: (write: StoreWrite) => void
  die: (signal: Order['signal']) => void
}

/** Wraps a store: it reports every write except renewals, and signals its process at the ordered one. */
export function dyingAt(store: DeliveryStore, options: DyingStoreOptions): DeliveryStore {
  let writes = 0
  let last: Order | undefined

  async function write<Result>(
    apply: () => Promise<Result>,
    about: Pick<StoreWrite, 'calls' | 'claim'> = {},
  ) {
    const order = options.order()
    writes = order === last ? writes + 1 : 1
    last = order
    const number = writes
    const dieAt = (when: Order['when']) => {
      if (order?.write === number && order.when === when) options.die(order.signal)
    }
    options.report({ phase: 'begins', ...about })
    dieAt('before')
    const result = await apply()
    options.report({ phase: 'done', ...about, accepted: result === true })
    dieAt('after')
    return result
  }

  return {
    ...store,
    claim: ({ owner = crypto.randomUUID(), ...request }) =>
      write(() => store.claim({ ...request, owner }), { claim: { subject: request.subject, owner } }),
    advance: (lease, progress) => write(() => store.advance(lease, progress), { calls: callsOf(progress) }),
    complete: (lease, completion) => write(() => store.complete(lease, completion)),
    release: (lease) => write(() => store.release(lease)),
    reserve: (reservation) => write(() => store.reserve(reservation)),
  }
}

/** Ends the leases of a host that died, so that nobody waits for them. */
export async function endLeases(store: DeliveryStore, claims: readonly Claim[]): Promise<void> {
  for (const { subject, owner } of claims) {
    const record = await store.read(subject)
    if (record) await store.renew({ subject, owner, fence: record.fence, delivery: record.delivery }, 1)
  }
}

function callsOf(progress: Record<string, Json>): NonNullable<StoreWrite['calls']> {
  const steps = Object.entries(progress).filter(([name]) => name.startsWith('call '))
  return Object.fromEntries(steps.map(([name, value]) => [name, value === null ? 'taken back' : 'recorded']))
}
