/** Resolves after so many milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

/**
 * Resolves as soon as `holds` is true.
 *
 * @throws where it is not within `timeoutMs`
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${timeoutMs} ms`)
    await pause(10)
  }
}

/** Runs `work` for every item, so many at a time. */
export async function inParallel<Item>(
  items: Iterable<Item>,
  atATime: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items[Symbol.iterator]()
  async function worker(): Promise<void> {
    for (let item = waiting.next(); !item.done; item = waiting.next()) await work(item.value)
  }
  await Promise.all(Array.from({ length: atATime }, worker))
}
