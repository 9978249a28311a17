import { setFlagsFromString } from 'node:v8'

/** After a large event. In bytes. */
const MUCH_MEMORY = 180 * 1024 * 1024
const CHECK_MS = 500

/**
 * Keeps the heap of the process close to what it holds. By default, V8 collects old objects when there are up to four
 * times as many, and lets the space for new ones grow to 32 MB or more, for good.
 *
 * It must be called before much is allocated. Flags of the command line would do the same, if they were not forgotten.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=15')
  setFlagsFromString('--semi-space-growth-factor=1')
  compactWhenLarge()
}

/**
 * V8 empties few of its pages, and keeps those that are half full: each large event would leave some more. It empties
 * most of them to optimize for size, which costs small events a quarter of their speed, so only while there is need.
 */
function compactWhenLarge(): void {
  let isCompact = false
  setInterval(() => {
    const isLarge = process.memoryUsage.rss() > MUCH_MEMORY
    if (isLarge !== isCompact) setFlagsFromString(isLarge ? '--optimize-for-size' : '--no-optimize-for-size')
    isCompact = isLarge
  }, CHECK_MS).unref()
}
