/** One event of one integration, resolved once: every later step reads these fields. */
import { type EventTraits, eventTraits, type PlatformEvent } from '../contract/event.ts'
import type { FunctionDefinition, IntegrationDefinition } from '../contract/integration.ts'
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

export const MAX_ID_LENGTH = 200

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
  const { name: route, functions } = definition
  // An empty header names no delivery.
  const deliveryId = headers.get('webhook-id') || event.id
  if (deliveryId !== undefined && deliveryId.length > MAX_ID_LENGTH) {
    const message = `is longer than ${MAX_ID_LENGTH} characters`
    throw new IntegrationError('invalid_event', `The header webhook-id ${message}.`, {
      errors: [{ path: 'webhook-id', message }],
    })
  }
  const handled = definition.events.some((name) => name === event.name)
  const wanted = handled && event.name === 'FUNCTION_CALL' ? event.functionCall.name : undefined
  const found =
    wanted === undefined
      ? undefined
      : Object.entries(functions).find(([name, { aliases }]) => name === wanted || aliases?.includes(wanted))
  const called = found?.[1]
  const effectful = called?.effectful === true
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
    function: found && { name: found[0], definition: found[1] },
    effectful,
    resumable: called?.resumable === true,
    subject,
  }
}
