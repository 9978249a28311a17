/**
 * Reads the messages of a batch, one by one.
 *
 * @module
 */

/** One item of a {@link Source}; `undefined` after the last one. */
type SourceItem = { item: unknown } | undefined

/** The messages of a batch. */
export interface Source {
  /** Whether the messages that are left can be listed without asking the caller’s code. */
  readonly isList: boolean
  read(): SourceItem | Promise<SourceItem>
  /** Tells the source that no more messages are read. */
  close(): void
}

/** Opens a list, an iterable or an async iterable. */
export function openSource(items: Iterable<unknown> | AsyncIterable<unknown>): Source {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  let isOver = false
  function toItem({ done, value }: IteratorResult<unknown>): SourceItem {
    isOver ||= done === true
    return done ? undefined : { item: value }
  }
  return {
    isList: Array.isArray(items),
    read() {
      const step = iterator.next()
      // A promise of another realm or library becomes one that is recognised.
      return 'then' in step ? Promise.resolve(step).then(toItem) : toItem(step)
    },
    close() {
      if (isOver) return
      // Not awaited: a source that is stuck may never return. What it throws now changes nothing.
      const closed = Promise.resolve().then(() => iterator.return?.())
      closed.catch(() => {})
    },
  }
}
