/**
 * The pace of a batch: how many calls and bytes at a time, and when the provider asks to slow down.
 *
 * @module
 */

/** A pause that would end hardly later than the one that lasts is the same pause. */
const SAME_PAUSE_MS = 1_000
/** The shortest pause; it doubles with each pause until the provider answers a call. */
const SHORTEST_PAUSE_MS = 50
const LONGEST_DOUBLING = 7
/** A call may take a little longer than the slowest before it. */
const CAUTION = 1.1

interface FlowOptions {
  /** The most calls in flight at a time. */
  concurrency: number
  /** The largest body of a call of several messages, and the bodies of all calls in flight, in bytes. */
  callBytes: number
  inFlightBytes: number
  /** How long a call of an earlier attempt took, in milliseconds, if that is known. */
  callMs: number | undefined
  /** Waits until the time is over or the signal fires. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Fires when the batch ends early. */
  signal: AbortSignal
}

interface Turn {
  started: number
  bytes: number
}

/** The pace of one batch. */
export type Flow = ReturnType<typeof createFlow>

/**
 * Makes the pace of a batch. The first call goes alone, and each answer lets one more go at a time: a refused token or
 * a slow provider is noticed before much has left.
 */
export function createFlow(options: FlowOptions) {
  const { concurrency, callBytes, inFlightBytes, callMs: known, wait, signal } = options
  const running = new Set<Turn>()
  let queued = 0
  let bytesInFlight = 0
  let limit = known === undefined ? 1 : concurrency
  let slowestMs = known ?? 0
  let calls = 0
  let waitedMs = 0
  let pauses = 0
  let pause: { until: number; over: Promise<void> } | undefined
  let waiting: (() => void)[] = []

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resume of woken) resume()
  }

  return {
    /** Whether the next call may be composed. */
    hasRoom: () =>
      running.size + queued < limit &&
      (running.size + queued === 0 || bytesInFlight + callBytes <= inFlightBytes),
    /** Resolves when there may be room again. */
    hasChanged: () => new Promise<void>((resolve) => waiting.push(resolve)),
    /** Waits for the turn of a call, or for the end of the batch. */
    async enter(bytes: number): Promise<Turn> {
      queued += 1
      // A call that waits is composed already.
      bytesInFlight += bytes
      while (!signal.aborted && (pause || running.size >= limit)) {
        await (pause?.over ?? new Promise<void>((resolve) => waiting.push(resolve)))
      }
      queued -= 1
      const turn = { started: Date.now(), bytes }
      running.add(turn)
      calls += 1
      return turn
    },
    /** Ends the turn of a call. */
    leave(turn: Turn, outcome: 'answered' | 'broken' | 'not sent'): void {
      running.delete(turn)
      bytesInFlight -= turn.bytes
      if (outcome !== 'not sent') slowestMs = Math.max(slowestMs, Date.now() - turn.started)
      if (outcome === 'answered') {
        waitedMs = 0
        pauses = 0
        limit = Math.min(concurrency, limit + 1)
      }
      wake()
    },
    /**
     * How long a call may take, in milliseconds, by the slowest one so far: answered, or still running. The first one
     * always begins, or a batch with a slow provider would never go on.
     */
    expectedMs(): number {
      if (calls === 1) return 0
      let longest = slowestMs
      for (const { started } of running) longest = Math.max(longest, Date.now() - started)
      return longest * CAUTION
    },
    /** How long a pause lasts that should last so long: at least a little longer than the one before. */
    pauseOf: (milliseconds: number) =>
      Math.max(milliseconds, SHORTEST_PAUSE_MS * 2 ** Math.min(pauses, LONGEST_DOUBLING)),
    /** Lets no call begin for a while, and fewer at a time after that. */
    pauseFor(milliseconds: number): void {
      const until = Date.now() + milliseconds
      if (pause && until < pause.until + SAME_PAUSE_MS) return
      limit = Math.max(1, Math.floor(limit / 2))
      waitedMs += milliseconds
      pauses += 1
      const end = () => {
        if (pause?.over !== over) return
        pause = undefined
        wake()
      }
      // A wait of the caller may fail; then there is none.
      const over: Promise<void> = Promise.resolve()
        .then(() => wait(milliseconds, signal))
        .then(end, end)
      pause = { until, over }
    },
    /** Milliseconds that the batch has paused since the provider last answered a call. */
    standstillMs: () => waitedMs,
  }
}
