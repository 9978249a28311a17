/** Shares what a host has little of between deployments, such as connections or memory. */
import { IntegrationError } from '../errors.ts'

/** Options of {@link createShares}. */
interface SharesOptions {
  /** The most that is in use at a time. */
  all: number
  /** The most of it that one owner has. An owner that has nothing gets any amount, as far as `all` is not reached. */
  each: number
  /** Names what is shared in errors, such as `connections to servers of deployments`. */
  what: string
}

/** Something that is shared. */
export type Shares = ReturnType<typeof createShares>

/** Gives back a part, or by default all that is left. */
export type Release = (part?: number) => void

/** Shares something between owners. Whoever finds too little left waits. */
export function createShares({ all, each, what }: SharesOptions) {
  const inUse = new Sums()
  /** In order, but an owner at its limit holds up no other one. */
  const waiting = new Set<() => void>()

  /** An amount that is larger than a limit passes alone. */
  function hasRoom(owner: string, amount: number): boolean {
    const own = inUse.of(owner)
    return (own === 0 || own + amount <= each) && (inUse.total === 0 || inUse.total + amount <= all)
  }

  return {
    /**
     * Takes an amount, as soon as there is enough.
     *
     * @param signal ends the wait
     * @returns a function that gives it back; it does nothing once all is given back
     * @throws {IntegrationError} `overloaded` if the signal fires first
     */
    async take(owner: string, amount: number, signal: AbortSignal | null): Promise<Release> {
      let wake = () => {}
      const end = () => wake()
      signal?.addEventListener('abort', end)
      while (!hasRoom(owner, amount) && !signal?.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve
          waiting.add(resolve)
        })
        waiting.delete(wake)
      }
      signal?.removeEventListener('abort', end)
      if (!hasRoom(owner, amount)) throw overloaded(what)
      inUse.add(owner, amount)
      let held = amount
      return (part = held) => {
        const back = Math.min(part, held)
        held -= back
        inUse.add(owner, -back)
        for (const tryAgain of waiting) tryAgain()
      }
    },
  }
}

/** The error for a host that has too much of something to do. */
export function overloaded(what: string): IntegrationError {
  return new IntegrationError('overloaded', `This host has too many ${what} under way.`, { retryAfter: 1 })
}

/** Sums by name, and of all names. */
export class Sums {
  readonly #sums = new Map<string, number>()
  total = 0

  of(name: string): number {
    return this.#sums.get(name) ?? 0
  }

  add(name: string, amount: number): void {
    const sum = this.of(name) + amount
    this.total += amount
    this.#sums.set(name, sum)
    // A sum of nothing takes no memory.
    if (sum === 0) this.#sums.delete(name)
  }
}
