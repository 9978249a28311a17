/**
 * Gives the items of lists one by one. The loop of a generator makes three promises for each item, and this makes one.
 */
export function oneByOne<Item>(lists: AsyncGenerator<readonly Item[], void>): AsyncIterableIterator<Item> {
  let list: Iterator<Item> = [].values()
  /** The call that reads the next list. Later calls wait for it, as those of a generator do. */
  let reading: Promise<unknown> | undefined

  async function read(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      const next = list.next()
      if (!next.done) return next
      const { done, value } = await lists.next()
      if (done) return { done: true, value: undefined }
      list = value.values()
    }
  }

  function afterReading<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = reading ? reading.then(work, work) : work()
    const isOver = () => {
      if (reading === result) reading = undefined
    }
    reading = result
    result.then(isOver, isOver)
    return result
  }

  return {
    [Symbol.asyncIterator]() {
      return this
    },
    next() {
      const next = reading ? undefined : list.next()
      return next && !next.done ? Promise.resolve(next) : afterReading(read)
    },
    return: () =>
      afterReading(async () => {
        list = [].values()
        await lists.return()
        return { done: true, value: undefined }
      }),
  }
}
