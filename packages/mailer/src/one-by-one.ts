/** Takes items out of lists, which settled promises hold. A generator makes three promises for each, this one. */
export function oneByOne<Item extends object>(
  lists: AsyncGenerator<Item[], void>,
): AsyncIterableIterator<Item> {
  /** The items that are left, the last one first. */
  let list: Item[] = []
  /** The call that reads the next list. Later calls wait for it. */
  let reading: Promise<unknown> | undefined

  function take(): IteratorResult<Item, undefined> | undefined {
    const value = list.pop()
    return value && { done: false, value }
  }

  async function read(): Promise<IteratorResult<Item, undefined>> {
    for (;;) {
      const next = take()
      if (next) return next
      const { done, value } = await lists.next()
      if (done) return { done: true, value: undefined }
      list = value.reverse()
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
      const next = reading ? undefined : take()
      return next ? Promise.resolve(next) : afterReading(read)
    },
    return: () =>
      afterReading(async () => {
        list = []
        await lists.return()
        return { done: true, value: undefined }
      }),
  }
}
