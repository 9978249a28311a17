/**
 * Lists that come one after another, as one stream of their items.
 *
 * @module
 */

/**
 * The items of all lists, in order. It asks for a list only when the one before it is used up.
 *
 * Not a generator: one that has its items already would still take three turns of the queue for each.
 */
export function flatten<Item>(lists: AsyncGenerator<readonly Item[]>): AsyncIterableIterator<Item> {
  let list: readonly Item[] = []
  let position = 0
  let ended = false
  let refill: Promise<void> | undefined

  // Shared by all who ask at the same time, so that none of them drops a list that another got.
  async function fill(): Promise<void> {
    try {
      while (position === list.length && !ended) {
        const next = await lists.next()
        ended = next.done === true
        list = next.done ? [] : next.value
        position = 0
      }
    } finally {
      refill = undefined
    }
  }

  function take(): IteratorResult<Item> | undefined {
    const item = list[position]
    if (item === undefined) return undefined
    position += 1
    return { done: false, value: item }
  }

  async function takeLater(): Promise<IteratorResult<Item>> {
    while (!ended) {
      refill ??= fill()
      await refill
      const taken = take()
      if (taken) return taken
    }
    return { done: true, value: undefined }
  }

  return {
    next() {
      const taken = take()
      return taken ? Promise.resolve(taken) : takeLater()
    },
    async return() {
      ended = true
      list = []
      await lists.return(undefined)
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}
