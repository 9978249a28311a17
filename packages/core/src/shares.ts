/** Shares what a host has little of between deployments, such as connections or memory. */
import { IntegrationError } from './errors.ts'

/** Options of {@link createShares}. */
interface SharesOptions {
  /** The most that is in use at a time. */
  all: number
  /** The most of it that one owner has. An owner that has nothing gets any amount, as far as `all` is not reached. */
  each: number
  /**
   * The most that may wait.
   * @default no limit: waiting is cheap
   */
  waiting?: number
  /** Names what is shared in errors, such as `connections to servers of deployments`. */
  what: string
}

/** Something that is shared. */
export type Shares = ReturnType<typeof createShares>

interface Waiter {
  owner: string
  amount: number
  admit: () => void
}

/** Gives back a part, or by default all that is left. */
export type Release = (part?: number) => void

/** Shares something between owners. */
export function createShares({
  all,
  each,
  waiting: mostWaiting = Number.POSITIVE_INFINITY,
  what,
}: SharesOptions) {
  const inUse = new Map<string, number>()
  const queue = new Set<Waiter>()
  let total = 0
  let waiting = 0

  /** An amount that is larger than a limit passes alone. */
  function fits({ owner, amount }: Pick<Waiter, 'owner' | 'amount'>): boolean {
    const own = inUse.get(owner) ?? 0
    return (own === 0 || own + amount <= each) && (total === 0 || total + amount <= all)
  }

  function add(owner: string, amount: number): void {
    const own = (inUse.get(owner) ?? 0) + amount
    if (own === 0) inUse.delete(owner)
    else inUse.set(owner, own)
    total += amount
  }

  function hold(owner: string, amount: number): Release {
    add(owner, amount)
    let held = amount
    return (part = held) => {
      const back = Math.min(part, held)
      if (back <= 0) return
      held -= back
      add(owner, -back)
      // In order, but an owner at its limit holds up no other one.
      for (const waiter of queue) if (fits(waiter)) waiter.admit()
    }
  }

  return {
    /** Whether an owner’s own share has room for an amount. */
    hasShare(owner: string, amount: number): boolean {
      const own = inUse.get(owner) ?? 0
      return own === 0 || own + amount <= each
    },
    /**
     * Takes an amount, as soon as there is enough.
     *
     * @param signal ends the wait
     * @returns a function that gives it back; it does nothing once all is given back
     * @throws {IntegrationError} `overloaded` if the signal fires first, or if too much waits already
     */
    async take(owner: string, amount: number, signal: AbortSignal | null): Promise<Release> {
      if (fits({ owner, amount })) return hold(owner, amount)
      if (signal?.aborted || (waiting > 0 && waiting + amount > mostWaiting)) throw overloaded(what)
      return new Promise((resolve, reject) => {
        const leave = () => {
          queue.delete(waiter)
          waiting -= amount
          signal?.removeEventListener('abort', giveUp)
        }
        const giveUp = () => {
          leave()
          reject(overloaded(what))
        }
        const waiter: Waiter = {
          owner,
          amount,
          admit() {
            leave()
            resolve(hold(owner, amount))
          },
        }
        queue.add(waiter)
        waiting += amount
        signal?.addEventListener('abort', giveUp)
      })
    },
  }
}

export function overloaded(what: string): IntegrationError {
  return new IntegrationError('overloaded', `This host has too many ${what} under way.`, { retryAfter: 1 })
}
