/** The gate of an account at a provider (contract §2): an outage makes unknown only what had left before it was noticed. */
import type { Gate, GateLimits } from '../contract/gate.ts'
import { IntegrationError } from '../errors.ts'
import { LONGEST_TIMER_MS, pause } from './attempt.ts'

/** At most one probe of an account in this time, in milliseconds. */
const PROBE_EVERY_MS = 1_000
/** The pause after a change that breaks although reads succeed, in milliseconds; it doubles with each. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** The account that broke longest ago gives way to a new one. */
const MOST_ACCOUNTS = 10_000

/** The changes of an owner broke, and none has succeeded since: one at a time is tried. */
interface Trouble {
  pauseMs: number
  /** No change is tried before, in milliseconds. */
  until: number
  /** Resolves when the change that is tried is over. */
  trying: PromiseWithResolvers<void> | undefined
}

interface Account {
  /** No change leaves until a probe has succeeded. */
  isShut: boolean
  /** The last probe failed. */
  isAway: boolean
  /** How often it was shut. */
  breaks: number
  probedAt: number
  probing: Promise<void> | undefined
  troubles: Map<string, Trouble>
  /** Holds everyone up once the changes of two owners have broken. */
  shared: Trouble
}

/**
 * Makes the gate of a process.
 *
 * @param now the time in milliseconds; `Date.now` by default
 * @returns a function from an owner to the gate for its changes
 */
export function createGate(now: () => number = Date.now): (owner: string) => Gate {
  const accounts = new Map<string, Account>()

  function shut(name: string, owner: string, tried: Trouble | undefined): void {
    const account = accounts.get(name) ?? {
      ...{ isShut: false, isAway: false, breaks: 0 },
      ...{ probedAt: Number.NEGATIVE_INFINITY, probing: undefined },
      ...{ troubles: new Map<string, Trouble>(), shared: noTrouble() },
    }
    accounts.delete(name)
    accounts.set(name, account)
    const [oldest = ''] = accounts.keys()
    if (accounts.size > MOST_ACCOUNTS) accounts.delete(oldest)
    account.isShut = true
    account.breaks += 1
    if (!account.troubles.has(owner)) account.troubles.set(owner, noTrouble())
    if (!tried) return
    tried.pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, 2 * tried.pauseMs))
    tried.until = now() + tried.pauseMs
  }

  function heal(name: string, owner: string): void {
    const account = accounts.get(name)
    if (!account) return
    if (account.troubles.size > 1) account.troubles.clear()
    else account.troubles.delete(owner)
    account.shared = noTrouble()
    if (!account.isShut && account.troubles.size === 0) accounts.delete(name)
  }

  function look(account: Account, probe: () => Promise<boolean>): Promise<void> {
    if (account.probing) return account.probing
    const { breaks } = account
    account.probedAt = now()
    account.probing = probe().then((isAnswered) => {
      // A change that broke meanwhile may have met a later fault than the probe.
      if (isAnswered && account.breaks === breaks) account.isShut = false
      account.isAway = !isAnswered
      account.probing = undefined
    })
    return account.probing
  }

  /** @returns the trouble for which this change is the one that is tried */
  async function admit(
    account: Account,
    owner: string,
    probe: () => Promise<boolean>,
    limits: GateLimits,
  ): Promise<Trouble | undefined> {
    const { wait, signal, deadline = Number.POSITIVE_INFINITY } = limits
    for (;;) {
      if (signal?.aborted || Date.now() >= deadline) throw refusal(PROBE_EVERY_MS)
      const trouble = account.troubles.size > 1 ? account.shared : account.troubles.get(owner)
      const { until = 0, trying } = trouble ?? {}
      const { isShut, probing, probedAt } = account
      const beforeProbeMs = isShut && !probing ? probedAt + PROBE_EVERY_MS - now() : 0
      const waitMs = Math.max(until - now(), beforeProbeMs)
      if (trying) {
        if (!wait) throw refusal(FIRST_PAUSE_MS)
        await orEnded(trying.promise, limits)
      } else if (waitMs > 0) {
        if (!(await wait?.(waitMs))) throw refusal(waitMs)
        // The time is over, also if the clock of a test stands still. Others may have begun meanwhile.
        if (trouble?.until === until) trouble.until = 0
        if (account.probedAt === probedAt) account.probedAt = Number.NEGATIVE_INFINITY
      } else if (!isShut) {
        // At once: others may wait for the same read.
        if (trouble) trouble.trying = Promise.withResolvers()
        return trouble
      } else {
        // A provider that is away may not answer the read either, and must not hold everyone up.
        if (probing && account.isAway && !wait) throw refusal(PROBE_EVERY_MS)
        await orEnded(look(account, probe), limits)
        if (account.isShut && !wait) throw refusal(PROBE_EVERY_MS)
      }
    }
  }

  return (owner) => ({
    async enter(name, probe, limits = {}) {
      const account = accounts.get(name)
      const tried = account && (await admit(account, owner, probe, limits))
      return {
        ensureOpen() {
          if (accounts.get(name)?.isShut) throw refusal(PROBE_EVERY_MS)
        },
        leave(outcome) {
          const trying = tried?.trying
          if (tried) tried.trying = undefined
          if (outcome === 'made') heal(name, owner)
          if (outcome === 'unknown') shut(name, owner, tried)
          trying?.resolve()
        },
      }
    },
  })
}

/** Resolves when the work is over, or the limits of the caller are. */
function orEnded(work: Promise<void>, { signal, deadline }: GateLimits): Promise<void> {
  const done = new AbortController()
  work.then(() => done.abort())
  const leftMs = Math.min((deadline ?? Number.POSITIVE_INFINITY) - Date.now(), LONGEST_TIMER_MS)
  return pause(leftMs, signal ? AbortSignal.any([done.signal, signal]) : done.signal)
}

const noTrouble = (): Trouble => ({ pauseMs: 0, until: 0, trying: undefined })

function refusal(waitMs: number): IntegrationError {
  const message = 'The outcome of an earlier call is unknown: the provider must answer a read first.'
  return new IntegrationError('provider_error', message, { retryAfter: waitMs / 1_000 })
}
