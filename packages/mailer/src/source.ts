/**
 * Reads the messages of a batch, one by one, and can be interrupted while the source is stuck.
 *
 * @module
 */

/** One step of a {@link Source}. */
export type SourceStep = { item: unknown } | 'done' | 'interrupted'

/** The messages of a batch. */
export interface Source {
  /** Whether the messages that are left can be listed without asking the caller’s code. */
  readonly isList: boolean
  /** The next message. After `interrupted`, the same message is still to come. */
  read(): SourceStep | Promise<SourceStep>
  /** Resolves a `read` that waits as `interrupted`. */
  interrupt(): void
  /** Tells the source that no more messages are read. */
  close(): void
}

/** Opens a list, an iterable or an async iterable. */
export function openSource(items: Iterable<unknown> | AsyncIterable<unknown>): Source {
  if (Array.isArray(items)) return openList(items)
  return Symbol.asyncIterator in items
    ? openStream(items[Symbol.asyncIterator]())
    : openIterator(items[Symbol.iterator]())
}

function openList(items: readonly unknown[]): Source {
  let next = 0
  return {
    isList: true,
    read() {
      if (next >= items.length) return 'done'
      next += 1
      return { item: items[next - 1] }
    },
    interrupt() {},
    close() {},
  }
}

function openIterator(iterator: Iterator<unknown>): Source {
  return {
    isList: false,
    read() {
      const { done, value } = iterator.next()
      return done ? 'done' : { item: value }
    },
    interrupt() {},
    close: () => void iterator.return?.(),
  }
}

function openStream(iterator: AsyncIterator<unknown>): Source {
  let pending: Promise<IteratorResult<unknown>> | undefined
  let interrupt: (() => void) | undefined
  return {
    isList: false,
    read() {
      pending ??= iterator.next()
      const reading = pending
      // Not Promise.race: a promise that lives as long as the batch would keep a reaction for each message.
      return new Promise((resolve, reject) => {
        let isInterrupted = false
        interrupt = () => {
          isInterrupted = true
          resolve('interrupted')
        }
        // An interrupted read leaves its message to the next one.
        const settle = (settled: () => void) => {
          if (isInterrupted) return
          pending = undefined
          settled()
        }
        reading.then(
          ({ done, value }) => settle(() => resolve(done ? 'done' : { item: value })),
          (error: unknown) => settle(() => reject(error)),
        )
      })
    },
    interrupt: () => interrupt?.(),
    // Not awaited: a source that is stuck may never return.
    close: () => void iterator.return?.().catch(() => {}),
  }
}
