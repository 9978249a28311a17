/**
 * The pace of a batch: how many calls and bytes at a time, and when the provider asks to slow down.
 *
 * @module
 */

/** The bodies of all calls in flight, in bytes. */
const MAX_BYTES_IN_FLIGHT = 64_000_000
/** A pause that would end hardly later than the one that lasts is the same pause. */
const SAME_PAUSE_MS = 1_000
/** A call may take a little longer than the slowest before it. */
const CAUTION = 1.1

interface FlowOptions {
  /** The most calls in flight at a time. */
  concurrency: number
  /** The largest body of a call, in bytes. */
  callBytes: number
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
export function createFlow({ concurrency, callBytes, wait, signal }: FlowOptions) {
  const running = new Set<Turn>()
  let queued = 0
  let bytesInFlight = 0
  let limit = 1
  let slowestMs = 0
  let waitedMs = 0
  let pause: { until: number; over: Promise<void> } | undefined
  let waiting: (() => void)[] = []

  function wake(): void {
    const woken = waiting
    waiting = []
    for (const resume of woken) resume()
  }
  signal.addEventListener('abort', wake, { once: true })

  return {
    /** Whether the next call may be composed. */
    hasRoom: () =>
      running.size + queued < limit &&
      (running.size + queued === 0 || bytesInFlight + callBytes <= MAX_BYTES_IN_FLIGHT),
    /** Resolves when there may be room again. */
    hasChanged: () => new Promise<void>((resolve) => waiting.push(resolve)),
    /** Waits for the turn of a call, or for the end of the batch. */
    async enter(bytes: number): Promise<Turn> {
      queued += 1
      while (!signal.aborted && (pause || running.size >= limit)) {
        await (pause?.over ?? new Promise<void>((resolve) => waiting.push(resolve)))
      }
      queued -= 1
      bytesInFlight += bytes
      const turn = { started: Date.now(), bytes }
      running.add(turn)
      return turn
    },
    /** Ends the turn of a call. */
    leave(turn: Turn, outcome: 'answered' | 'broken' | 'not sent'): void {
      running.delete(turn)
      bytesInFlight -= turn.bytes
      if (outcome !== 'not sent') slowestMs = Math.max(slowestMs, Date.now() - turn.started)
      if (outcome === 'answered') {
        waitedMs = 0
        limit = Math.min(concurrency, limit + 1)
      }
      wake()
    },
    /** How long the next call may take, in milliseconds, by the slowest one so far: answered, or still running. */
    expectedMs(): number {
      let longest = slowestMs
      for (const { started } of running) longest = Math.max(longest, Date.now() - started)
      return longest * CAUTION
    },
    /** Lets no call begin for a while, and fewer at a time after that. */
    pauseFor(milliseconds: number): void {
      const until = Date.now() + milliseconds
      if (pause && until < pause.until + SAME_PAUSE_MS) return
      limit = Math.max(1, Math.floor(limit / 2))
      waitedMs += milliseconds
      const over: Promise<void> = wait(milliseconds, signal).then(() => {
        if (pause?.over !== over) return
        pause = undefined
        wake()
      })
      pause = { until, over }
    },
    /** Milliseconds that the batch has paused since the provider last answered a call. */
    standstillMs: () => waitedMs,
  }
}
