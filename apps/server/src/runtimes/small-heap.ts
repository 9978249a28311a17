import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** After large events: below 300 MB, and no less, because an event may wait for 100 ms while V8 compacts. In bytes. */
const MUCH_MEMORY = 250 * 1024 * 1024
const CHECK_MS = 500
/** With half of it, a send takes a third more time; with twice as much, the host takes 25 MB more. In bytes. */
const NEW_SPACE = 16 * 1024 * 1024

/**
 * Keeps the heap of the process close to what it holds. By default, V8 collects old objects when there are up to four
 * times as many, and lets the space for new ones grow to 32 MB or more, for good.
 *
 * It must be called before much is allocated, but once Node has loaded its own modules: V8 does not take their compiled
 * code under other flags than the ones that Node was built with. Flags of the command line would make a start slower by
 * a third, and would be forgotten.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=15')
  // Few new objects outlive a collection. To wake other threads for them takes longer than to move them.
  setFlagsFromString('--no-parallel-scavenge')
  limitNewSpace()
  compactWhenLarge()
}

/** Lets the space for new objects grow up to a limit. V8 takes a size at the start of a process only. */
function limitNewSpace(): void {
  const observer = new PerformanceObserver(() => {
    const space = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    if (space && space.space_size < NEW_SPACE) return
    setFlagsFromString('--semi-space-growth-factor=1')
    observer.disconnect()
  })
  observer.observe({ entryTypes: ['gc'] })
}

/**
 * V8 empties few of its pages, and keeps those that are half full: each large event would leave some more. It empties
 * most of them to optimize for size, which costs small events a quarter of their speed, so only while there is need.
 */
function compactWhenLarge(): void {
  let isCompact = false
  setInterval(() => {
    const isLarge = residentMemory() > MUCH_MEMORY
    if (isLarge !== isCompact) setFlagsFromString(isLarge ? '--optimize-for-size' : '--no-optimize-for-size')
    isCompact = isLarge
  }, CHECK_MS).unref()
}

/** Node opens a file to read it. A process that has no file left to open is not large, and must not end for this. */
function residentMemory(): number {
  try {
    return process.memoryUsage.rss()
  } catch {
    return 0
  }
}
