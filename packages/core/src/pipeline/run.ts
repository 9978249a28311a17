import type { HandlerContext, Progress } from '../contract/handler-context.ts'
import type { CallbackOptions } from '../contract/platform.ts'
import { askStore, type Claim, inTime, LEAST_WAIT_MS, reservedSteps } from '../delivery/claim.ts'
import { settlementOf } from '../delivery/settlement.ts'
import { causeOf, IntegrationError } from '../errors.ts'
import { namedHostsOnly } from '../http/egress.ts'
import { toStatusFailure } from '../http/response.ts'
import { EventDeployment, invalidInputs, type OutputsFrom } from './deployment.ts'
import type { OutboundCall, OutboundInit } from './event-log.ts'
import type { EventParts } from './parts.ts'
import { Reporter } from './reporter.ts'

/** The handler's share of an event's time; the rest is left for the last reports to the platform. */
const HANDLER_SHARE = 0.8
/** A change that begins later might be cut, in doubt: in milliseconds, and as a part of the event's time at most. */
const [CHANGE_MS, CHANGE_SHARE] = [5_000, 0.2]

type Fetch = typeof fetch
type Target = OutboundCall['to']

/** The work on one event, until `close`. */
export class Run {
  readonly parts: EventParts
  readonly reporter: Reporter
  readonly deployment: EventDeployment | undefined
  readonly context: HandlerContext
  /** The last reports to the platform, and so the response, leave by then. */
  readonly deadline: Deadline
  readonly #handlerDeadline: Deadline
  #intent: Promise<void> | undefined

  constructor(parts: EventParts) {
    const { shared, claim, arrivedAt } = parts
    const endsAt = arrivedAt + shared.timeoutMs
    const begunAt = Date.now()
    this.parts = parts
    this.#handlerDeadline = new Deadline(begunAt + (endsAt - begunAt) * HANDLER_SHARE, claim?.lost)
    this.deadline = new Deadline(endsAt, claim?.lost)
    this.reporter = new Reporter(parts, () => this.#callback(this.deadline))
    // Until a new deployment of an id has published its own, the outputs are those of the one before.
    this.deployment = this.#open(claim?.progress[reservedSteps.published] === false ? 'nowhere' : 'event')
    this.context = this.#contextWith(this.deployment)
  }

  /** The deployment with the outputs that the platform has, whatever the event carries, and a context with it. */
  published() {
    const deployment = this.#open('platform')
    return { deployment, context: this.#contextWith(deployment) }
  }

  /** Ends the handler's time, and resolves when every report has arrived or is lost. */
  async close(): Promise<void> {
    this.#handlerDeadline.clear()
    await this.reporter.flush()
    this.deadline.clear()
  }

  #open(outputsFrom: OutputsFrom): EventDeployment | undefined {
    const { deployment } = this.parts.operation.event
    const callback = () => this.#callback(this.#handlerDeadline)
    return deployment && new EventDeployment(this.parts, deployment, outputsFrom, callback)
  }

  #callback(deadline: Deadline): CallbackOptions {
    return { signal: deadline.signal, wrapFetch: (transport) => this.#wrapFetch('platform', transport) }
  }

  /** What a handler sees of the event. */
  #contextWith(deployment: EventDeployment | undefined): HandlerContext {
    const { shared, operation, claim } = this.parts
    const { at, signal } = this.#handlerDeadline
    return {
      event: operation.event,
      deliveryId: operation.deliveryId,
      deployment,
      log: this.reporter.log,
      progress: claim && createProgress(this.parts, claim, at - LEAST_WAIT_MS),
      fetch: this.#wrapFetch('provider', shared.fetch),
      egress: this.#egressOf(deployment),
      gate: shared.gateOf(deployment?.id ?? ''),
      signal,
      deadline: at,
      stopping: shared.stopping,
    }
  }

  /**
   * Turns a transport into the `fetch` of this event: it checks the lease, records the intent before the first change,
   * counts, and is observed. Nothing else in core wraps `fetch`.
   */
  #wrapFetch(to: Target, transport: Fetch): Fetch {
    return async (input, init) => {
      const { trace } = this.parts
      const url = urlOf(input).href
      trace.called[to] = url
      let failure: unknown
      try {
        const response = await this.#send(to, transport, input, init)
        if (!response.ok) failure = toStatusFailure(response)
        return response
      } catch (error) {
        failure = error
        throw error
      } finally {
        if (failure !== undefined && to === 'provider') trace.failedCall = causeOf(failure, url)
      }
    }
  }

  async #send(
    to: Target,
    transport: Fetch,
    input: Parameters<Fetch>[0],
    init: OutboundInit | undefined,
  ): Promise<Response> {
    const { operation, trace, shared, claim } = this.parts
    const deadline = (to === 'provider' ? this.#handlerDeadline : this.deadline).at
    // Not `instanceof Request`: a runtime may have two classes of that name.
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = init?.method ?? given?.method ?? 'GET'
    const isChange = to === 'provider' && method !== 'GET'
    const neededMs = isChange ? Math.min(CHANGE_MS, shared.timeoutMs * CHANGE_SHARE) : 0
    const beforeSend = () => {
      init?.beforeSend?.()
      claim?.ensureClaimed()
      // Also while the intent was recorded: a transport could not tell that nothing was sent. And a host that was halted
      // has not noticed yet that its time is over.
      if (deadline - Date.now() > neededMs && !init?.signal?.aborted) return
      const code = to === 'provider' ? 'provider_timeout' : 'platform_unavailable'
      throw new IntegrationError(code, 'Too little time was left for the call, so it was not made.')
    }
    // So the next claim knows whether a change may have left the host. Recorded steps tell more.
    if (claim && isChange && operation.effectful && !operation.resumable) {
      this.#intent ??= claim.record({ [reservedSteps.intent]: true }, deadline - neededMs)
      await this.#intent
    }
    beforeSend()
    trace.facts[`${to}Calls`] += 1
    const outbound: OutboundInit = { ...init, beforeSend }
    const send = () => transport(input, outbound)
    if (!shared.observer.call) return send()
    const usesHostSecret = () => {
      const headers = new Headers(init?.headers ?? given?.headers)
      return [...headers.values()].some((value) => trace.host.text(value) !== value)
    }
    const url = given?.url ?? String(input)
    return shared.observer.call({ to, route: operation.route, method, url, usesHostSecret }, send)
  }

  /**
   * The rule for a deployment's URLs, with one more: they get no value of the host's variables, unless the operator lists
   * their host (contract §6). It looks at the inputs and not at the request, where a value may have any encoding.
   */
  #egressOf(deployment: EventDeployment | undefined): HandlerContext['egress'] {
    const { shared, trace, place } = this.parts
    const rule = shared.egress ?? namedHostsOnly(shared.fetch)
    const send = this.#wrapFetch('provider', rule.fetch)
    function check(url: URL): void {
      const names = deployment?.references() ?? []
      if (names.length === 0 || rule.isListed?.(url)) return
      const message =
        'refers to a variable of the host, whose value is not sent to a URL of the deployment: enter the value itself, or leave the URL out'
      throw invalidInputs(names.map((name) => ({ path: `deployment.inputs.${name}`, message })))
    }
    return {
      refuse(url) {
        const refusal = rule.refuse(url)
        if (refusal === undefined) check(url)
        return refusal
      },
      async fetch(input, init) {
        const url = urlOf(input)
        check(url)
        place.callServer(url.origin)
        trace.facts.callsOwnServer = true
        return send(input, init)
      },
    }
  }
}

/** A point in time, in milliseconds since 1970, and the signal that fires then. */
// Not `AbortSignal.timeout`, which would hold its closure for its whole time.
class Deadline {
  readonly at: number
  readonly #lost: AbortSignal | undefined
  #signal: AbortSignal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** @param lost aborts the signal earlier */
  constructor(at: number, lost: AbortSignal | undefined) {
    this.at = at
    this.#lost = lost
  }

  /** The timer starts when somebody asks for the signal. */
  get signal(): AbortSignal {
    if (this.#signal) return this.#signal
    const controller = new AbortController()
    const end = () => controller.abort(new DOMException('The time for this event is over.', 'TimeoutError'))
    this.#timer = setTimeout(end, Math.max(0, this.at - Date.now()))
    this.#signal = this.#lost ? AbortSignal.any([controller.signal, this.#lost]) : controller.signal
    return this.#signal
  }

  /** Call when the work is done: the time is not over any more. */
  clear(): void {
    clearTimeout(this.#timer)
  }
}

function urlOf(input: Parameters<Fetch>[0]): URL {
  return new URL(typeof input === 'object' && 'url' in input ? input.url : input)
}

/** @param by when a write ends without the store's answer, in milliseconds since 1970 */
function createProgress({ shared, operation, claiming }: EventParts, claim: Claim, by: number): Progress {
  const { store } = shared
  const { logger } = claiming
  const { subject } = claim.lease
  const resourceOf = (name: string) => `${operation.route}/${name}`
  const ask = <Result>(asked: () => Promise<Result>, isOver?: () => boolean) =>
    inTime(askStore(asked, logger, isOver), by)
  return {
    read: (name) => (name.startsWith('@') ? undefined : claim.progress[name]),
    async write(name, value) {
      if (name.startsWith('@')) throw new TypeError(`The step name “${name}” begins with “@”.`)
      await claim.record({ [name]: value }, by)
    },
    isSettled: (name) => settlementOf(claim.progress)?.steps.includes(name) ?? false,
    async reserve(name) {
      const request = { subject: resourceOf(name), owner: subject }
      const isOver = () => Date.now() >= by
      return (await ask(() => store.reserve(request), isOver)) === subject
    },
    async isReserved(name) {
      const owner = (await ask(() => store.read(resourceOf(name))))?.progress.owner
      return owner !== undefined && owner !== subject
    },
    async now() {
      const asked = performance.now()
      const record = await ask(() => store.read(subject))
      // The claim is the last one of its subject: while it lasts, nobody else can claim.
      return (record?.claimedAt ?? claiming.now()) + Math.round(asked - claim.claimedAt)
    },
  }
}
