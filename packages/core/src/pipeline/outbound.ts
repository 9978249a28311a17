import { type Claim, reservedSteps } from '../delivery/claim.ts'
import { IntegrationError } from '../errors.ts'
import type { Redactor } from '../redact.ts'
import type { Observer, OutboundCall, Trace } from './event-log.ts'
import type { Deadline } from './limits.ts'

/** How many changes are remembered. */
const REMEMBERED = 20
/** In milliseconds. */
const LEAST_MS = 2_000
/** One slow answer must not forbid all later changes of an event. */
const LARGEST_SHARE = 1 / 3

/** The init that core passes to a transport. */
export interface OutboundInit extends RequestInit {
  /**
   * Throws if the call must not leave any more: its claim or its time ran out while it waited for a connection. A transport
   * that can should call it right before the first byte; others may ignore it.
   */
  beforeSend?: (() => void) | undefined
  /** The deployment that the call is made for. A transport shares its connections between deployments by it. */
  deployment?: string | undefined
  /** Whether the call is the read of a gate, which passes every circuit. */
  isProbe?: boolean | undefined
  /** When the call must be over, in milliseconds since 1970. A call that waits should not begin shortly before. */
  deadline?: number | undefined
}

interface OutboundOptions {
  route: string
  deployment: string | undefined
  /** When calls to the provider, and calls to the platform, may no longer leave. */
  deadlines: Readonly<Record<OutboundCall['to'], Pick<Deadline, 'at'>>>
  claim: Claim | undefined
  /** Whether the event is a call with an effect that cannot continue from recorded steps. */
  recordIntent: boolean
  /** How long the changes of all events take. */
  pace: Pace
  observer: Observer
  trace: Trace
  /** Knows the secrets of the host alone. */
  hostSecrets: Redactor
}

/**
 * Turns transports into the `fetch` of one event: it checks the lease, records the intent before the first change,
 * counts, and is observed. Nothing else in core wraps `fetch`.
 */
export class Outbound {
  /** The claim that each call needs. An event without effects has one while it reports its status. */
  claim: Claim | undefined
  readonly #options: OutboundOptions
  #intent: Promise<void> | undefined

  constructor(options: OutboundOptions) {
    this.claim = options.claim
    this.#options = options
  }

  wrap(to: OutboundCall['to'], send: typeof fetch): typeof fetch {
    return (input, init) => this.#call(to, send, input, init)
  }

  async #call(
    to: OutboundCall['to'],
    send: typeof fetch,
    input: Parameters<typeof fetch>[0],
    init: OutboundInit | undefined,
  ): Promise<Response> {
    const { claim } = this
    const { beforeSend: ensureOpen } = init ?? {}
    const { route, deployment, deadlines, recordIntent, pace, observer, trace, hostSecrets } = this.#options
    // Not `instanceof Request`: a runtime may have two classes of that name.
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = init?.method ?? given?.method ?? 'GET'
    const isChange = to === 'provider' && method !== 'GET'
    const beforeSend = () => {
      ensureOpen?.()
      claim?.ensureClaimed()
      // Also while the intent was recorded: a transport could not tell that nothing was sent.
      this.#ensureInTime(to, isChange ? pace.neededMs() : 0, init?.signal?.aborted)
    }
    if (claim && recordIntent && isChange) {
      // So the next claim knows whether a change may have left the host.
      this.#intent ??= claim.advance(reservedSteps.intent, true, deadlines.provider.at)
      await this.#intent
    }
    const sendTimed = async (outbound: OutboundInit) => {
      const sentAt = Date.now()
      const response = await send(input, outbound)
      if (isChange) pace.note(Date.now() - sentAt)
      return response
    }
    beforeSend()
    if (to === 'provider') trace.providerCalls += 1
    const outbound: OutboundInit = { ...init, beforeSend, deployment, deadline: deadlines[to].at }
    if (!observer.call) return sendTimed(outbound)
    const call: OutboundCall = {
      to,
      route,
      method,
      url: given?.url ?? String(input),
      usesHostSecret: () =>
        [...new Headers(init?.headers ?? given?.headers).values()].some(
          (value) => hostSecrets.text(value) !== value,
        ),
      headers: {},
    }
    return observer.call(call, () => {
      if (Object.keys(call.headers).length === 0) return sendTimed(outbound)
      const own = Object.fromEntries(new Headers(init?.headers ?? given?.headers))
      return sendTimed({ ...outbound, headers: { ...own, ...call.headers } })
    })
  }

  /** A host that was halted has not noticed yet that its time is over. */
  #ensureInTime(to: OutboundCall['to'], neededMs: number, isAborted = false): void {
    if (this.#options.deadlines[to].at - Date.now() > neededMs && !isAborted) return
    const code = to === 'provider' ? 'provider_timeout' : 'platform_unavailable'
    throw new IntegrationError(code, 'Too little time was left for the call, so it was not made.')
  }
}

/** How long changes take. */
export type Pace = ReturnType<typeof createPace>

/**
 * Remembers how long the last changes took: one that begins with less time left might be cut, in doubt.
 *
 * @param timeoutMs the longest time for one event
 */
export function createPace(timeoutMs: number) {
  const last: number[] = []
  return {
    /** The time that a change needs, in milliseconds. */
    neededMs: () => Math.min(Math.max(LEAST_MS, ...last), timeoutMs * LARGEST_SHARE),
    /** Notes how long a change took, in milliseconds. */
    note(durationMs: number): void {
      last.push(durationMs)
      if (last.length > REMEMBERED) last.shift()
    },
  }
}
