import { type Claim, reservedSteps } from '../delivery/claim.ts'
import { IntegrationError } from '../errors.ts'
import type { Redactor } from '../redact.ts'
import type { Observer, OutboundCall, Trace } from './event-log.ts'

/** A change that begins later might be cut, in doubt. In milliseconds. */
const LEAST_MS = 2_000
/** The longest part of an event's time in which no change begins. */
const LARGEST_SHARE = 1 / 3

/** The init that core passes to a transport. */
export interface OutboundInit extends RequestInit {
  /**
   * Throws if the call must not leave any more: its claim or its time ran out while it waited for a connection. A transport
   * that can should call it right before the first byte; others may ignore it.
   */
  beforeSend?: (() => void) | undefined
  /** Whether the call is the read of a gate, which passes every circuit. */
  isProbe?: boolean | undefined
}

interface OutboundOptions {
  route: string
  /** When calls to the provider, and calls to the platform, may no longer leave. */
  deadlines: Readonly<Record<OutboundCall['to'], { readonly at: number }>>
  claim: Claim | undefined
  /** Whether the event is a call with an effect that cannot continue from recorded steps. */
  recordIntent: boolean
  /** The longest time for the event, in milliseconds. */
  timeoutMs: number
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
    const { route, deadlines, recordIntent, timeoutMs, observer, trace, hostSecrets } = this.#options
    // Not `instanceof Request`: a runtime may have two classes of that name.
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = init?.method ?? given?.method ?? 'GET'
    const isChange = to === 'provider' && method !== 'GET'
    const beforeSend = () => {
      ensureOpen?.()
      claim?.ensureClaimed()
      // Also while the intent was recorded: a transport could not tell that nothing was sent. And a host that was halted
      // has not noticed yet that its time is over.
      const neededMs = isChange ? Math.min(LEAST_MS, timeoutMs * LARGEST_SHARE) : 0
      if (deadlines[to].at - Date.now() > neededMs && !init?.signal?.aborted) return
      const code = to === 'provider' ? 'provider_timeout' : 'platform_unavailable'
      throw new IntegrationError(code, 'Too little time was left for the call, so it was not made.')
    }
    if (claim && recordIntent && isChange) {
      // So the next claim knows whether a change may have left the host.
      this.#intent ??= claim.record({ [reservedSteps.intent]: true }, deadlines.provider.at)
      await this.#intent
    }
    beforeSend()
    if (to === 'provider') trace.providerCalls += 1
    const outbound: OutboundInit = { ...init, beforeSend }
    if (!observer.call) return send(input, outbound)
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
      if (Object.keys(call.headers).length === 0) return send(input, outbound)
      const own = Object.fromEntries(new Headers(init?.headers ?? given?.headers))
      return send(input, { ...outbound, headers: { ...own, ...call.headers } })
    })
  }
}
