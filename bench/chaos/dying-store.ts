import type { DeliveryStore } from '../../packages/core/src/index.ts'
import type { Json } from '../../packages/core/src/internal.ts'

/** A write to the store, reported before it begins and when it is done. */
export interface StoreWrite {
  /** Counted since the last order. */
  write: number
  operation: 'claim' | 'advance' | 'complete' | 'release'
  subject: string
  phase: 'begins' | 'done'
  /** Whether the store accepted the write; the state, for a claim. */
  result?: string
  /** The progress to be recorded: the state of each call of a batch. */
  calls?: Record<string, 'begun' | 'answered'>
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
    fact: Pick<StoreWrite, 'operation' | 'subject' | 'calls'>,
    apply: () => Promise<Result>,
    describe: (result: Result) => string = String,
  ): Promise<Result> {
    const order = options.order()
    if (order !== last) writes = 0
    last = order
    writes += 1
    const number = writes
    const dieAt = (when: Order['when']) => {
      if (order?.write === number && order.when === when) options.die(order.signal)
    }
    options.report({ write: number, phase: 'begins', ...fact })
    dieAt('before')
    const result = await apply()
    options.report({ write: number, phase: 'done', result: describe(result), ...fact })
    dieAt('after')
    return result
  }

  return {
    ...store,
    claim: (request) =>
      write(
        { operation: 'claim', subject: request.subject },
        () => store.claim(request),
        ({ state }) => state,
      ),
    advance: (lease, progress) =>
      write({ operation: 'advance', subject: lease.subject, calls: callsOf(progress) }, () =>
        store.advance(lease, progress),
      ),
    complete: (lease, completion) =>
      write({ operation: 'complete', subject: lease.subject }, () => store.complete(lease, completion)),
    release: (lease) => write({ operation: 'release', subject: lease.subject }, () => store.release(lease)),
  }
}

function callsOf(progress: Record<string, Json>): Record<string, 'begun' | 'answered'> {
  return Object.fromEntries(
    Object.entries(progress).flatMap(([name, value]) =>
      name.startsWith('call ') && value !== null ? [[name, value === 'begun' ? 'begun' : 'answered']] : [],
    ),
  )
}
