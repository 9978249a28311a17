import { setTimeout as pause } from 'node:timers/promises'

export { pause }

/**
 * Resolves as soon as `holds` returns true. Until then, it may reject.
 *
 * @throws after `timeoutMs`
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
  everyMs = 10,
): Promise<void> {
  const isTrue = async () => holds()
  const end = Date.now() + timeoutMs
  while (!(await isTrue().catch(() => false))) {
    if (Date.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${what}.`)
    await pause(everyMs)
  }
}

/**
 * Starts work at a steady rate until it is stopped.
 *
 * @returns a function that stops the load, and resolves with the results of all work
 */
export function startLoad<Result>(
  perSecond: number,
  work: (number: number) => Promise<Result>,
): () => Promise<Result[]> {
  const results: Promise<Result>[] = []
  const began = performance.now()
  let isRunning = true
  const started = (async () => {
    for (let number = 0; isRunning; number += 1) {
      results.push(work(number))
      await pause(Math.max(0, began + (number * 1_000) / perSecond - performance.now()))
    }
  })()
  return async () => {
    isRunning = false
    await started
    return Promise.all(results)
  }
}

/** Works on some items at a time. */
export async function inParallel<Item>(
  atATime: number,
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const queue = items.values()
  const workInTurn = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: atATime }, workInTurn))
}
