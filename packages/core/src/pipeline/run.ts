import type { Gate } from '../contract/gate.ts'
import type { DeploymentLog, Egress, HandlerContext, Progress } from '../contract/handler-context.ts'
import type { EventHandlers, IntegrationDefinition } from '../contract/integration.ts'
import type { CallbackOptions, DeploymentStatus, Platform } from '../contract/platform.ts'
import { type Claim, type ClaimOptions, readStore, reserve, reservedSteps } from '../delivery/claim.ts'
import { lastStatus } from '../delivery/idempotency.ts'
import { settlementOf } from '../delivery/settlement.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import { causeOf, IntegrationError } from '../errors.ts'
import { namedHostsOnly } from '../http/egress.ts'
import { toStatusFailure } from '../http/response.ts'
import type { Logger } from '../log.ts'
import type { Redactor } from '../redact.ts'
import type { Place } from '../request/capacity.ts'
import type { Operation } from '../request/operation.ts'
import { invalidInputs, type OpenDeployment, openDeployment } from './deployment.ts'
import {
  createEventLogger,
  type Observer,
  type OutboundCall,
  type OutboundInit,
  type Trace,
} from './event-log.ts'
import type { HandlerDependencies } from './options.ts'
import type { createPace } from './pace.ts'
import { Reporter } from './reporter.ts'

/** The handler's share of an event's time; the rest is left for the last reports to the platform. */
const HANDLER_SHARE = 0.8

/** The handlers of any integration. */
export type AnyHandlers = Partial<EventHandlers<IntegrationDefinition>> & {
  discard?: (outputs: Record<string, unknown>, context: HandlerContext) => Promise<void>
}

/** Parts that all events of a webhook use. */
export interface Shared extends Pick<HandlerDependencies, 'environment' | 'egress' | 'stopping'> {
  definition: IntegrationDefinition
  handlers: AnyHandlers
  platform: Platform
  store: DeliveryStore
  /** The host's transport for providers. */
  fetch: typeof fetch
  gateOf: (deploymentId: string) => Gate
  logger: Logger
  observer: Observer
  /** Knows the secrets of the host alone. */
  hostSecrets: Redactor
  timeoutMs: number
  /** How long the changes of all events take. */
  pace: ReturnType<typeof createPace>
  now: () => number
}

/** A point in time, and the signal that fires then. The timer starts when somebody asks for the signal. */
// Not `AbortSignal.timeout`, which would hold its closure for its whole time.
class Deadline {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly #lost: AbortSignal | undefined
  #signal: AbortSignal | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /**
   * @param at in milliseconds since 1970
   * @param lost aborts the signal earlier
   */
  constructor(at: number, lost?: AbortSignal) {
    this.at = at
    this.#lost = lost
  }

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

/** What an event begins with. */
export interface RunOptions {
  operation: Operation
  trace: Trace
  claiming: ClaimOptions
  /** Absent if the event needs no claim, or was answered before. */
  claim: Claim | undefined
  /** When its time began, in milliseconds since 1970. */
  arrivedAt: number
  place: Place
}

/** The work on one event: all its parts, opened and closed in one place. */
// A class: most events use few of its parts, and the others are made when they are asked for.
export class Run {
  readonly shared: Shared
  readonly operation: Operation
  readonly trace: Trace
  readonly claim: Claim | undefined
  readonly claiming: ClaimOptions
  readonly place: Place
  /** The claim that each call needs. An event without effects has one while it reports its status. */
  callClaim: Claim | undefined
  readonly reporter: Reporter
  readonly deployment: OpenDeployment | undefined
  readonly context: HandlerContext
  readonly handlerDeadline: Deadline
  /** The last reports to the platform, and so the response, leave by then. */
  readonly deadline: Deadline
  #intent: Promise<void> | undefined

  constructor(shared: Shared, { operation, trace, claiming, claim, arrivedAt, place }: RunOptions) {
    const deployment = operation.event.deployment?.id
    this.shared = shared
    this.operation = operation
    this.trace = trace
    this.claim = claim
    this.claiming = claiming
    this.place = place
    const endsAt = arrivedAt + shared.timeoutMs
    const begunAt = Date.now()
    this.handlerDeadline = new Deadline(begunAt + (endsAt - begunAt) * HANDLER_SHARE, claim?.lost)
    this.deadline = new Deadline(endsAt, claim?.lost)
    this.callClaim = claim
    this.reporter = new Reporter({
      platform: shared.platform,
      deploymentId: deployment,
      deliveryId: operation.deliveryId,
      // Not the fence: a store may forget a released claim and count from one again.
      run: claim?.lease.owner,
      callback: () => this.#callback(this.deadline),
      ensureClaimed: claim?.ensureClaimed,
      logger: createEventLogger(shared.logger, operation.route, trace),
      reasonOf: (error) => causeOf(error, trace.called.platform),
      redactor: trace.redactor,
      now: shared.now,
    })
    // Until a new deployment of an id has published its own, the outputs are those of the one before.
    this.deployment = this.#open(claim?.progress[reservedSteps.published] === false ? 'nowhere' : 'event')
    this.context = new Context(this, this.deployment)
  }

  /** The status that was reported before this event. */
  get lastStatus(): DeploymentStatus | undefined {
    return this.claim && lastStatus(this.claim.progress)
  }

  /** Whether the outputs of the deployment were published before this event. */
  get wasPublished(): boolean {
    return this.claim?.progress[reservedSteps.published] === true
  }

  /** The deployment with the outputs that the platform has, whatever the event carries, and a context with it. */
  published(): { deployment: OpenDeployment | undefined; context: HandlerContext } {
    const deployment = this.#open('platform')
    return { deployment, context: new Context(this, deployment) }
  }

  /** Ends the handler's time, and resolves when every report has arrived or is lost. */
  async close(): Promise<void> {
    this.handlerDeadline.clear()
    await this.reporter.flush()
    this.deadline.clear()
  }

  #open(outputsFrom: 'event' | 'platform' | 'nowhere'): OpenDeployment | undefined {
    if (!this.operation.event.deployment) return undefined
    return openDeployment({
      operation: this.operation,
      platform: this.shared.platform,
      callback: () => this.#callback(this.handlerDeadline),
      environment: this.shared.environment,
      credentials: this.trace.credentials,
      outputsFrom,
    })
  }

  #callback({ signal }: Deadline): CallbackOptions {
    return { signal, wrapFetch: (transport) => this.wrapFetch('platform', transport) }
  }

  /**
   * Turns a transport into the `fetch` of this event: it checks the lease, records the intent before the first change,
   * counts, and is observed. Nothing else in core wraps `fetch`.
   */
  wrapFetch(to: OutboundCall['to'], transport: typeof fetch): typeof fetch {
    return async (input, init) => {
      const { trace } = this
      const url = urlOf(input).href
      trace.called[to] = url
      const note = (error: unknown) => {
        if (to === 'provider') trace.failedCall = causeOf(error, url)
      }
      try {
        const response = await this.#send(to, transport, input, init)
        if (!response.ok) note(toStatusFailure(response))
        return response
      } catch (error) {
        note(error)
        throw error
      }
    }
  }

  async #send(
    to: OutboundCall['to'],
    transport: typeof fetch,
    input: Parameters<typeof fetch>[0],
    init: OutboundInit | undefined,
  ): Promise<Response> {
    const { callClaim: claim, operation, trace } = this
    const { pace, observer, hostSecrets } = this.shared
    const { beforeSend: ensureOpen } = init ?? {}
    const deadline = to === 'provider' ? this.handlerDeadline.at : this.deadline.at
    // Not `instanceof Request`: a runtime may have two classes of that name.
    const given = typeof input === 'object' && 'method' in input ? input : undefined
    const method = init?.method ?? given?.method ?? 'GET'
    const isChange = to === 'provider' && method !== 'GET'
    const beforeSend = () => {
      ensureOpen?.()
      claim?.ensureClaimed()
      // Also while the intent was recorded: a transport could not tell that nothing was sent. And a host that was halted
      // has not noticed yet that its time is over.
      const neededMs = isChange ? pace.neededMs() : 0
      if (deadline - Date.now() > neededMs && !init?.signal?.aborted) return
      const code = to === 'provider' ? 'provider_timeout' : 'platform_unavailable'
      throw new IntegrationError(code, 'Too little time was left for the call, so it was not made.')
    }
    // So the next claim knows whether a change may have left the host. Recorded steps tell more.
    if (claim && isChange && operation.effectful && !operation.resumable) {
      this.#intent ??= claim.record({ [reservedSteps.intent]: true }, deadline)
      await this.#intent
    }
    beforeSend()
    if (to === 'provider') trace.providerCalls += 1
    else trace.platformCalls += 1
    const outbound: OutboundInit = { ...init, beforeSend }
    const send = (given: OutboundInit) =>
      isChange ? pace.note(() => transport(input, given)) : transport(input, given)
    if (!observer.call) return send(outbound)
    const call: OutboundCall = {
      to,
      route: operation.route,
      method,
      url: given?.url ?? String(input),
      usesHostSecret: () =>
        [...new Headers(init?.headers ?? given?.headers).values()].some(
          (value) => hostSecrets.text(value) !== value,
        ),
      headers: {},
    }
    return observer.call(call, () => {
      if (Object.keys(call.headers).length === 0) return send(outbound)
      const own = Object.fromEntries(new Headers(init?.headers ?? given?.headers))
      return send({ ...outbound, headers: { ...own, ...call.headers } })
    })
  }
}

/** What a handler sees of a run. */
class Context implements HandlerContext {
  readonly event: HandlerContext['event']
  readonly deployment: OpenDeployment | undefined
  readonly progress: Progress | undefined
  readonly fetch: HandlerContext['fetch']
  readonly gate: Gate
  readonly deadline: number
  readonly deliveryId: string | undefined
  readonly stopping: AbortSignal | undefined
  readonly #run: Run
  #egress: Egress | undefined

  constructor(run: Run, deployment: OpenDeployment | undefined) {
    this.event = run.operation.event
    this.deployment = deployment
    this.progress = run.claim && createProgress(run, run.claim)
    this.fetch = run.wrapFetch('provider', run.shared.fetch)
    this.gate = run.shared.gateOf(deployment?.id ?? '')
    this.deadline = run.handlerDeadline.at
    this.deliveryId = run.operation.deliveryId
    this.stopping = run.shared.stopping
    this.#run = run
  }

  get log(): DeploymentLog {
    return this.#run.reporter.log
  }

  get egress(): Egress {
    if (this.#egress) return this.#egress
    const run = this.#run
    const { shared, place } = run
    const rule = withoutReferences(shared.egress ?? namedHostsOnly(shared.fetch), this.deployment)
    const send = run.wrapFetch('provider', rule.fetch)
    this.#egress = {
      ...rule,
      async fetch(input, init) {
        place.callServer(urlOf(input).origin)
        run.trace.callsOwnServer = true
        return send(input, init)
      },
    }
    return this.#egress
  }

  get signal(): AbortSignal {
    return this.#run.handlerDeadline.signal
  }
}

/**
 * The rule for a deployment's URLs, with one more: they get no value of the host's variables, unless the operator lists
 * their host (contract §6). It looks at the inputs and not at the request, where a value may have any encoding.
 */
function withoutReferences(rule: Egress, deployment: OpenDeployment | undefined): Egress {
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
      check(urlOf(input))
      return rule.fetch(input, init)
    },
  }
}

function urlOf(input: Parameters<typeof fetch>[0]): URL {
  return new URL(typeof input === 'object' && 'url' in input ? input.url : input)
}

function createProgress({ shared, operation, claiming, handlerDeadline }: Run, claim: Claim): Progress {
  const { store } = shared
  const { route } = operation
  const by = handlerDeadline.at
  const reserved = new Set<string>(Object.values(reservedSteps))
  return {
    read: (name) => (reserved.has(name) ? undefined : claim.progress[name]),
    async write(name, value) {
      if (name.startsWith('@')) throw new TypeError(`The step name “${name}” begins with “@”.`)
      await claim.record({ [name]: value }, by)
    },
    isSettled: (name) => settlementOf(claim.progress)?.steps.includes(name) ?? false,
    reserve: (resource) =>
      reserve(store, { resource: `${route}/${resource}`, owner: claim.lease.subject, by }, claiming),
    async isReserved(resource) {
      const record = await readStore(store, `${route}/${resource}`, claiming)
      const owner = record?.progress.owner
      return owner !== undefined && owner !== claim.lease.subject
    },
    async now() {
      const asked = performance.now()
      const record = await readStore(store, claim.lease.subject, claiming)
      // The claim is the last one of its subject: while it lasts, nobody else can claim.
      return (record?.claimedAt ?? claiming.now()) + Math.round(asked - claim.claimedAt)
    },
  }
}
