/** One event of one integration, resolved once: every later step reads these fields. */
import type { PlatformEvent } from '../contract/event.ts'
import { type EventTraits, eventTraits } from '../contract/event-traits.ts'
import { type FunctionDefinition, findFunction, type IntegrationDefinition } from '../contract/integration.ts'
import { IntegrationError } from '../errors.ts'

/** One event of one integration. */
export interface Operation {
  /** The integration's name. */
  readonly route: string
  readonly event: PlatformEvent
  readonly traits: EventTraits
  /** The header `webhook-id`, else the event's own id. */
  readonly deliveryId: string | undefined
  /** When a claimed event happened, in milliseconds since 1970; it orders the events of one deployment. */
  readonly happenedAt: number | undefined
  /** Whether the integration handles the event. */
  readonly handled: boolean
  /** The function that FUNCTION_CALL names; absent if the integration has no such function. */
  readonly function: { name: string; definition: FunctionDefinition } | undefined
  /** Whether it is a call that creates, changes, deletes or sends something. */
  readonly effectful: boolean
  /** Whether a call continues from its recorded steps after a crash. */
  readonly resumable: boolean
  /** The key of the claim; absent if the event is not claimed. */
  readonly subject: string | undefined
}

/** The keys of claims. Each route has its own. */
export const subjects = {
  deployment: (route: string, deploymentId: string) => `${route}/deployment/${deploymentId}`,
  call: (route: string, deliveryId: string) => `${route}/delivery/${deliveryId}`,
}

/**
 * Resolves an event.
 *
 * @throws {IntegrationError} `invalid_event` if the header `webhook-id` is too long
 */
export function resolveOperation(
  definition: IntegrationDefinition,
  event: PlatformEvent,
  headers: Headers,
): Operation {
  const { name: route } = definition
  const deliveryId = readDeliveryId(headers, event)
  const handled = definition.events.some((name) => name === event.name)
  const called =
    handled && event.name === 'FUNCTION_CALL' ? findFunction(definition, event.functionCall.name) : undefined
  const effectful = called?.definition.effectful === true
  const traits = eventTraits[event.name]
  let subject: string | undefined
  if (handled && traits.claims === 'deployment' && event.deployment)
    subject = subjects.deployment(route, event.deployment.id)
  if (effectful && deliveryId !== undefined) subject = subjects.call(route, deliveryId)
  return {
    route,
    event,
    traits,
    deliveryId,
    happenedAt: subject && event.timestamp ? Date.parse(event.timestamp) : undefined,
    handled,
    function: called,
    effectful,
    resumable: called?.definition.resumable === true,
    subject,
  }
}

const MAX_ID_LENGTH = 200

function readDeliveryId(headers: Headers, event: PlatformEvent): string | undefined {
  // An empty header names no delivery.
  const id = headers.get('webhook-id') || event.id
  if (id === undefined || id.length <= MAX_ID_LENGTH) return id
  const message = `is longer than ${MAX_ID_LENGTH} characters`
  throw new IntegrationError('invalid_event', `The header webhook-id ${message}.`, {
    errors: [{ path: 'webhook-id', message }],
  })
}
