import type { DeliveryStore, Json } from '../../packages/core/src/index.ts'

/** One write to the store, as it is told: before it begins, and when it is done. */
export interface StoreWrite {
  write: number
  operation: 'claim' | 'advance' | 'complete' | 'release'
  subject: string
  phase: 'begins' | 'done'
  /** Whether the store took it; for a claim, its state. */
  taken?: string
  /** What was to be recorded, cut down to the state of each call of a batch. */
  calls?: Record<string, 'begun' | 'answered'>
}

/** At which write, counted from the moment the order came, on which side of it, and by which signal. */
export interface Order {
  write: number
  when: 'before' | 'after'
  signal: 'SIGKILL' | 'SIGSTOP'
}

/** What the store is ordered, and how it dies. */
export interface DyingStoreOptions {
  order: () => Order | undefined
  tell: (fact: StoreWrite) => void
  die: (signal: Order['signal']) => void
}

/** A store that tells of every write but renewals, and ends or halts its process at the one that was ordered. */
export function dyingAt(store: DeliveryStore, { order: read, tell, die }: DyingStoreOptions): DeliveryStore {
  let writes = 0
  let since = 0
  let last: Order | undefined

  async function write<Result>(
    fact: Pick<StoreWrite, 'operation' | 'subject' | 'calls'>,
    act: () => Promise<Result>,
    takenOf: (result: Result) => string,
  ): Promise<Result> {
    const order = read()
    if (order !== last) since = writes
    last = order
    writes += 1
    const number = writes - since
    tell({ write: number, phase: 'begins', ...fact })
    if (order?.write === number && order.when === 'before') die(order.signal)
    const result = await act()
    tell({ write: number, phase: 'done', taken: takenOf(result), ...fact })
    if (order?.write === number && order.when === 'after') die(order.signal)
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
      write(
        { operation: 'advance', subject: lease.subject, calls: callsOf(progress) },
        () => store.advance(lease, progress),
        String,
      ),
    complete: (lease, completion) =>
      write(
        { operation: 'complete', subject: lease.subject },
        () => store.complete(lease, completion),
        String,
      ),
    release: (lease) =>
      write({ operation: 'release', subject: lease.subject }, () => store.release(lease), String),
  }
}

function callsOf(progress: Record<string, Json>): Record<string, 'begun' | 'answered'> {
  return Object.fromEntries(
    Object.entries(progress).flatMap(([name, value]) =>
      name.startsWith('call ') && value !== null ? [[name, value === 'begun' ? 'begun' : 'answered']] : [],
    ),
  )
}
