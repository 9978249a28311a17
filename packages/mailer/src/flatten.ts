/**
 * Yields the results of all lists, in order, and asks for a list only when the one before it is used up.
 *
 * It is not an async generator, because one takes three turns of the microtask queue for each result.
 */
export function flattenResults<Item>(
  lists: AsyncGenerator<{ results: readonly Item[] }>,
): AsyncIterableIterator<Item> {
  let list: readonly Item[] = []
  let position = 0
  let ended = false
  let refill: Promise<void> | undefined

  async function fill(): Promise<void> {
    try {
      while (position === list.length && !ended) {
        const next = await lists.next()
        ended = next.done === true
        list = next.done ? [] : next.value.results
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
      // Readers that ask at once share one refill, so that no list is lost.
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
