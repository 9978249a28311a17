import { setFlagsFromString } from 'node:v8'

/**
 * Keeps the heap of the process close to what it holds. By default, V8 collects old objects when there are up to four
 * times as many, and lets the space for new ones grow to 32 MB or more, for good.
 *
 * It must be called before much is allocated. Flags of the command line would do the same, if they were not forgotten.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=15')
  setFlagsFromString('--semi-space-growth-factor=1')
}
