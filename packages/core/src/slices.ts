/** Shorter than a person or a health check notices, and long enough for the pauses to cost little. */
const SLICE_MS = 10
/** Steps are short if the clock moves less between two looks at it: then it is looked at less often. */
const SHORT_MS = 0.5
/** The most steps between two looks. On a virtual machine, a look takes as long as a short step. */
const MOST_STEPS = 16
/** After so long, nobody has worked for a while, and the first slice need not wait. */
const IDLE_MS = 50

/** Runs after requests are read, where the runtime has it; timers alone may follow each other before. */
declare const setImmediate: ((work: () => void) => void) | undefined

/** Workers end the timers of a request with the request, so no other request may wait for them there. */
declare const FixedLengthStream: unknown

/** All work shares the slices: a hundred batches at once hold the event loop no longer than one. */
let sliceEnd = 0
let turns = Promise.resolve()

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const begin = () => {
      sliceEnd = performance.now() + SLICE_MS
      resolve()
    }
    // Not a microtask, which would run before any request is read.
    if (typeof setImmediate === 'undefined') setTimeout(begin)
    else setImmediate(begin)
  })
}

/**
 * Waits for a turn of the event loop without other work of this kind. Call it before a step that takes long and
 * cannot be cut, such as `JSON.parse` of megabytes.
 */
export function ownTurn(): Promise<void> {
  return queue(nextTurn)
}

/**
 * Runs a step that is short by itself in a slice that all events share: those of many events become ready in one turn
 * of the event loop. Nothing runs between the look at the clock and the step, so no other step takes the time it saw.
 *
 * @param step runs at once, or in a later slice if this one is over
 * @returns what the step returns
 */
export function inSlice<Value>(step: () => Value | Promise<Value>): Value | Promise<Value> {
  const wait = shareSlice()
  return wait ? wait.then(step) : step()
}

function shareSlice(): Promise<void> | undefined {
  const now = performance.now()
  if (now < sliceEnd) return undefined
  if (now > sliceEnd + IDLE_MS) {
    sliceEnd = now + SLICE_MS
    return undefined
  }
  // Those that wait follow one another in one turn, until its slice is over.
  return queue(() => (performance.now() < sliceEnd ? undefined : nextTurn()))
}

function queue(next: () => Promise<void> | undefined): Promise<void> {
  if (typeof FixedLengthStream !== 'undefined') return nextTurn()
  turns = turns.then(next)
  return turns
}

/**
 * Cuts long work into slices, so that it does not hold the event loop.
 *
 * @returns a function to call between two pieces of the work: it lets the others run if the slice is over. `wasLong`:
 * whether the last piece may have taken much longer than those before
 * @example
 * ```ts
 * const yieldToLoop = timeSliced()
 * for (const message of messages) {
 *   await yieldToLoop()
 *   check(message)
 * }
 * ```
 */
export function timeSliced(): (wasLong?: boolean) => Promise<void> | undefined {
  let lookedAt = 0
  let unseen = 0
  let stride = 1
  return (wasLong = false) => {
    unseen += 1
    if (unseen < stride && !wasLong) return undefined
    const now = performance.now()
    stride = now - lookedAt < SHORT_MS ? Math.min(2 * stride, MOST_STEPS) : 1
    lookedAt = now
    unseen = 0
    return shareSlice()
  }
}
