/** One event of one integration, resolved once: every later step reads these fields. */
import type { EventName, PlatformEvent } from '../contract/event.ts'
import { type FunctionDefinition, findFunction, type IntegrationDefinition } from '../contract/integration.ts'
import { IntegrationError } from '../errors.ts'

/** How core treats each event. */
export const eventTraits: Record<
  EventName,
  {
    /** The subject that a delivery claims before it acts. */
    claims: 'deployment' | 'call' | undefined
    /** Whether a success leaves a tombstone. */
    endsDeployment?: true
    /** Whether empty inputs mean “no inputs”, and not “read them from the platform”. */
    carriesInputs?: true
    /** Whether it needs a deployment that was not deleted. */
    needsLife?: true
  }
> = {
  WEBHOOK_CHALLENGE: { claims: undefined },
  DEPLOYMENT_CREATED: { claims: 'deployment', carriesInputs: true },
  HEALTH_CHECK: { claims: undefined },
  METRIC_UPDATE: { claims: undefined, needsLife: true },
  FUNCTION_CALL: { claims: 'call', needsLife: true },
  DOWNLOAD_STARTED: { claims: undefined, needsLife: true },
  DEPLOYMENT_DELETED: { claims: 'deployment', endsDeployment: true },
}

/** One event of one integration. */
export interface Operation {
  /** The integration's name. */
  readonly route: string
  readonly event: PlatformEvent
  /** The header `webhook-id`, else the event's own id. */
  readonly deliveryId: string | undefined
  /** When the event happened, in milliseconds since 1970; it orders the events of one deployment. */
  readonly happenedAt: number | undefined
  /** Whether the integration handles the event. */
  readonly handled: boolean
  /** The function that FUNCTION_CALL names; absent if the integration has no such function. */
  readonly function: { name: string; definition: FunctionDefinition } | undefined
  /** Whether it is a call that creates, changes, deletes or sends something. */
  readonly effect: boolean
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
  const handled = event.name !== 'WEBHOOK_CHALLENGE' && definition.events.includes(event.name)
  const called =
    handled && event.name === 'FUNCTION_CALL' ? findFunction(definition, event.functionCall.name) : undefined
  const effect = called?.definition.effect === true
  const { claims } = eventTraits[event.name]
  let subject: string | undefined
  if (handled && claims === 'deployment' && event.deployment)
    subject = subjects.deployment(route, event.deployment.id)
  if (effect && deliveryId !== undefined) subject = subjects.call(route, deliveryId)
  return {
    route,
    event,
    deliveryId,
    happenedAt: event.timestamp === undefined ? undefined : Date.parse(event.timestamp),
    handled,
    function: called,
    effect,
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
