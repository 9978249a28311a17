import type { HandlerContext } from '../contract/handler-context.ts'
import type { EventHandlers, IntegrationDefinition } from '../contract/integration.ts'
import type { CallbackOptions, DeploymentStatus, Platform } from '../contract/platform.ts'
import { type Claim, type ClaimOptions, reservedSteps } from '../delivery/claim.ts'
import { lastStatus } from '../delivery/idempotency.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import type { Logger } from '../log.ts'
import type { Redactor } from '../redact.ts'
import type { Operation } from '../request/operation.ts'
import { EventContext } from './context.ts'
import { type OpenDeployment, openDeployment } from './deployment.ts'
import { createEventLogger, type Observer, type Trace } from './event-log.ts'
import { Deadline } from './limits.ts'
import type { HandlerDependencies } from './options.ts'
import { Outbound } from './outbound.ts'
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
  logger: Logger
  observer: Observer
  /** Knows the secrets of the host alone. */
  hostSecrets: Redactor
  timeoutMs: number
  now: () => number
  claimingFor(trace: Trace): ClaimOptions
}

/** The parts that handle one event. */
// A class: most events use few of its parts, and the others are made when they are asked for.
export class Session {
  readonly shared: Shared
  readonly operation: Operation
  readonly trace: Trace
  readonly claim: Claim | undefined
  readonly outbound: Outbound
  readonly reporter: Reporter
  readonly deployment: OpenDeployment | undefined
  readonly context: EventContext
  /** Of the handler. */
  readonly deadline: Deadline
  /** Of the reports to the platform, and so of the response. */
  readonly end: Deadline
  #claiming: ClaimOptions | undefined

  /** @param arrivedAt when its time began */
  constructor(
    shared: Shared,
    operation: Operation,
    trace: Trace,
    { claim, arrivedAt }: { claim?: Claim | undefined; arrivedAt: number },
  ) {
    const { platform, timeoutMs, observer, hostSecrets, logger, now } = shared
    const deploymentId = operation.event.deployment?.id
    this.shared = shared
    this.operation = operation
    this.trace = trace
    this.claim = claim
    const endsAt = arrivedAt + timeoutMs
    const begunAt = Date.now()
    this.deadline = new Deadline(begunAt + (endsAt - begunAt) * HANDLER_SHARE, claim?.lost)
    this.end = new Deadline(endsAt, claim?.lost)
    this.outbound = new Outbound({
      route: operation.route,
      deployment: deploymentId,
      deadlines: { provider: this.deadline, platform: this.end },
      claim,
      recordIntent: operation.effect && !operation.resumable,
      observer,
      trace,
      hostSecrets,
    })
    this.reporter = new Reporter({
      platform,
      deploymentId,
      deliveryId: operation.deliveryId,
      // Not the fence: a store may forget a released claim and count from one again.
      run: claim?.lease.owner,
      callback: () => this.#callback(this.end),
      ensureClaimed: claim?.ensureClaimed,
      logger: createEventLogger(logger, operation.route, trace),
      redactor: trace.redactor,
      now,
    })
    // Until a new deployment of an id has published its own, the outputs are those of the one before.
    this.deployment = this.#open(claim?.progress[reservedSteps.published] === false ? 'nowhere' : 'event')
    this.context = new EventContext(this, this.deployment)
  }

  get store(): DeliveryStore {
    return this.shared.store
  }

  get claiming(): ClaimOptions {
    this.#claiming ??= this.shared.claimingFor(this.trace)
    return this.#claiming
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
    return { deployment, context: new EventContext(this, deployment) }
  }

  #open(outputsFrom: 'event' | 'platform' | 'nowhere'): OpenDeployment | undefined {
    if (!this.operation.event.deployment) return undefined
    return openDeployment({
      operation: this.operation,
      platform: this.shared.platform,
      callback: () => this.#callback(this.deadline),
      environment: this.shared.environment,
      credentials: this.trace.credentials,
      outputsFrom,
    })
  }

  #callback({ signal }: Deadline): CallbackOptions {
    return { signal, wrapFetch: (transport) => this.outbound.wrap('platform', transport) }
  }
}
