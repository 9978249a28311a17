/**
 * The pace of a batch: how many calls at a time, and the pauses while the provider takes no call.
 *
 * @module
 */
import type { BatchRun } from './run.ts'

/** A pause that would end hardly later than the one that lasts is the same pause. */
const SAME_PAUSE_MS = 1_000
/** The shortest pause. It doubles with each pause until the provider answers a call. */
const FIRST_PAUSE_MS = 50
const LONGEST_DOUBLED_MS = 10_000
/** A call may take a little longer than the slowest before it. */
const CAUTION = 1.1

/** A call that runs. */
interface Turn {
  started: number
}

/** The pace of one batch. */
export type Pace = ReturnType<typeof createPace>

/**
 * Makes the pace of a batch. The first call goes alone, and each answer lets one more go at a time: a refused token or
 * a slow provider is noticed before much has left.
 *
 * @param signal fires when the batch ends early
 */
export function createPace(
  { concurrency, wait }: Pick<BatchRun, 'concurrency' | 'wait'>,
  signal: AbortSignal,
) {
  const running = new Set<Turn>()
  let queued = 0
  let limit = 1
  let slowestMs = 0
  let calls = 0
  let pauses = 0
  let pause: { until: number; over: Promise<void> } | undefined
  /** Since when the provider takes no call, and how long the pauses since then were meant to last. */
  let trouble: { since: number; pausedMs: number } | undefined
  let idleSince = 0
  const waiting: (() => void)[] = []
  const hasChanged = () => new Promise<void>((resolve) => waiting.push(resolve))
  const isIdle = () => running.size + queued === 0
  const beInTrouble = () => (trouble ??= { since: Date.now(), pausedMs: 0 })

  function wake(): void {
    for (const resume of waiting.splice(0)) resume()
  }

  return {
    /** Whether the next call may be composed. */
    hasRoom: () => running.size + queued < limit,
    /** Resolves when there may be room again. */
    hasChanged,
    /** Waits for the turn of a call, or for the end of the batch. */
    async enter(): Promise<Turn> {
      // A time in which there was nothing to send is no outage.
      if (trouble && isIdle()) trouble.since += Date.now() - idleSince
      queued += 1
      while (!signal.aborted && (pause || running.size >= limit)) await (pause?.over ?? hasChanged())
      queued -= 1
      const turn = { started: Date.now() }
      running.add(turn)
      calls += 1
      return turn
    },
    /** Ends the turn of a call. */
    leave(turn: Turn, outcome: 'answered' | 'broken' | 'not sent'): void {
      running.delete(turn)
      idleSince = Date.now()
      if (outcome !== 'not sent') slowestMs = Math.max(slowestMs, idleSince - turn.started)
      if (outcome === 'broken') beInTrouble()
      if (outcome === 'answered') {
        trouble = undefined
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
      const runningMs = Array.from(running, ({ started }) => Date.now() - started)
      return Math.max(slowestMs, ...runningMs) * CAUTION
    },
    /** How long a pause lasts that should last so long: longer with each since the provider answered. */
    pauseOf: (milliseconds: number) =>
      Math.max(milliseconds, Math.min(LONGEST_DOUBLED_MS, FIRST_PAUSE_MS * 2 ** pauses)),
    /** Lets no call begin for a while, and fewer at a time after that. Resolves when the pause is over. */
    pauseFor(milliseconds: number): Promise<void> {
      const until = Date.now() + milliseconds
      if (pause && until < pause.until + SAME_PAUSE_MS) return pause.over
      limit = Math.max(1, Math.floor(limit / 2))
      beInTrouble().pausedMs += milliseconds
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
      return over
    },
    /** For how long the provider has taken no call, in milliseconds: by the clock, or by the pauses if a test skips them. */
    troubleMs: () => (trouble ? Math.max(Date.now() - trouble.since, trouble.pausedMs) : 0),
  }
}
