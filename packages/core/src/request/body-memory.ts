/** The memory for long bodies: of requests that are read, and of events under way. */
import { IntegrationError } from '../errors.ts'
import { createShares, type Release, type Shares } from '../shares.ts'

/** On Workers, no request may wait for another one. */
declare const FixedLengthStream: unknown

const MEBIBYTE = 1024 * 1024
/** The number of events alone bounds shorter ones. In bytes. */
export const SHORT_BODY = 64 * 1024
/** A longer body never keeps one of this length or less waiting. In bytes. */
export const MEDIUM_BODY = MEBIBYTE
/** Bodies that are read and parsed at a time, with what they are parsed to. One longer than a quarter goes alone. In bytes. */
const PARSED = 4
const READING = { medium: 8 * MEBIBYTE, long: 10 * MEBIBYTE }
/** A longer body is alone until its response has left: two of them would be a third of the process. In bytes. */
export const HUGE_BODY = 5 * MEBIBYTE
/** The weights of events under way. In bytes. */
const WORKING = { medium: 16 * MEBIBYTE, long: 30 * MEBIBYTE }
/** An event of this weight or less never waits for a heavier one. In bytes. */
const MEDIUM_WEIGHT = 2 * MEBIBYTE
/** A batch of 50,000 messages leaves room for smaller ones. In bytes. */
const MAX_WEIGHT = 30 * MEBIBYTE
/** A value of a few bytes becomes an object, and a message of a batch becomes a result. */
const BYTES_PER_VALUE = 300
/** A long text of an event is sent, or refused, as a second one. */
const COPIES = 3
/** Longest wait, twice for an event. Senders give up after half a minute. */
const WAIT_MS = 5_000

/** The memory for the body of one request. */
export interface BodyMemory {
  /**
   * Waits until a body may be read, instead of what was read before.
   *
   * @param bytes the length of the body, or the most that it may have
   * @throws {IntegrationError} `overloaded` after five seconds
   */
  read(bytes: number): Promise<void>
  /**
   * Waits until an event may be worked on. The memory that it was read with is free then.
   *
   * @param owner the event's deployment, which has at most a quarter of the memory
   * @param weight see {@link weightOf}
   * @returns `undefined` if there is nothing to wait for
   * @throws {IntegrationError} `overloaded` after five seconds; at once if the owner has its share
   */
  work(owner: string, weight: number): Promise<void> | undefined
  /** Call when the response has left. More calls do nothing. */
  free(): void
}

/** About the memory that an event needs, in bytes. */
export function weightOf(bodyBytes: number, values: number): number {
  return Math.min(MAX_WEIGHT, COPIES * bodyBytes + values * BYTES_PER_VALUE)
}

/** Makes the memory of a host. */
export function createBodyMemory(): { open(): BodyMemory } {
  const share = (all: number, portion: number) =>
    createShares({ all, each: all / portion, what: 'large events' })
  const all: AllMemory = {
    // Whose event it is, only its body says.
    reading: { medium: share(READING.medium, 1), long: share(READING.long, 1) },
    working: { medium: share(WORKING.medium, 4), long: share(WORKING.long, 4) },
    huge: createShares({ all: 1, each: 1, what: 'large events' }),
  }
  return { open: () => new OneBodyMemory(all) }
}

interface AllMemory {
  reading: Record<'medium' | 'long', Shares>
  working: Record<'medium' | 'long', Shares>
  huge: Shares
}

/** Most bodies are short, and hold nothing. */
class OneBodyMemory implements BodyMemory {
  readonly #all: AllMemory
  #held: Release | undefined
  #turn: Release | undefined

  constructor(all: AllMemory) {
    this.#all = all
  }

  async read(bytes: number): Promise<void> {
    this.#held?.()
    if (bytes > HUGE_BODY) this.#turn = await briefly((signal) => this.#all.huge.take('', 1, signal))
    if (bytes > SHORT_BODY) {
      const shares = this.#all.reading[bytes <= MEDIUM_BODY ? 'medium' : 'long']
      this.#held = await briefly((signal) => shares.take('', PARSED * bytes, signal))
    }
  }

  work(owner: string, weight: number): Promise<void> | undefined {
    if (weight > SHORT_BODY) return this.#workLong(owner, weight)
    this.#held?.()
    return undefined
  }

  async #workLong(owner: string, weight: number): Promise<void> {
    const shares = this.#all.working[weight <= MEDIUM_WEIGHT ? 'medium' : 'long']
    // Others would wait behind an event that waits for its own deployment.
    if (!shares.hasShare(owner, weight)) {
      const message = 'This host works on large events of this deployment already.'
      throw new IntegrationError('overloaded', message, { retryAfter: 1 })
    }
    const done = await briefly((signal) => shares.take(owner, weight, signal))
    this.#held?.()
    this.#held = done
  }

  free(): void {
    this.#held?.()
    this.#turn?.()
  }
}

async function briefly<Value>(wait: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
  if (typeof FixedLengthStream !== 'undefined') return wait(AbortSignal.abort())
  // Not AbortSignal.timeout, which would hold what waits until the time is over.
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), WAIT_MS)
  return wait(controller.signal).finally(() => clearTimeout(timer))
}
