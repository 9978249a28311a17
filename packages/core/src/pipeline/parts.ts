/** The parts with which the work on one event begins. */
import type { Gate } from '../contract/gate.ts'
import type { HandlerContext } from '../contract/handler-context.ts'
import type { EventHandlers, IntegrationDefinition } from '../contract/integration.ts'
import type { Claim, ClaimOptions } from '../delivery/claim.ts'
import type { DeliveryStore } from '../delivery/store.ts'
import type { Place } from '../request/capacity.ts'
import type { Operation } from '../request/operation.ts'
import type { Observer, Trace } from './event-log.ts'
import type { HandlerDependencies } from './options.ts'

/** The handlers of any integration. */
export type AnyHandlers = Partial<EventHandlers<IntegrationDefinition>> & {
  discard?: (outputs: Record<string, unknown>, context: HandlerContext) => Promise<void>
}

/** Parts that all events of a webhook use. */
export interface Shared
  extends Pick<HandlerDependencies, 'platform' | 'environment' | 'egress' | 'stopping'> {
  definition: IntegrationDefinition
  handlers: AnyHandlers
  store: DeliveryStore
  /** The host's transport for providers. */
  fetch: typeof fetch
  gateOf: (deploymentId: string) => Gate
  observer: Observer
  timeoutMs: number
  now: () => number
}

/** The parts of one event. */
export interface EventParts {
  shared: Shared
  operation: Operation
  trace: Trace
  /** Its logger writes to the line of the event. */
  claiming: ClaimOptions
  /** The claim that each call needs. An event without effects has one while it reports its status. */
  claim: Claim | undefined
  /** When its time began, in milliseconds since 1970. */
  arrivedAt: number
  place: Place
}
