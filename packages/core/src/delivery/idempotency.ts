/**
 * Effects happen once (contract §4): `begin` claims an event or replays its response, `end` records the response
 * or releases the claim.
 *
 * @module
 */
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretNames } from '../contract/marks.ts'
import { IntegrationError } from '../errors.ts'
import type { Redactor } from '../redact.ts'
import { eventTraits, type Operation } from '../request/operation.ts'
import { type EventResponse, ignored, type ResponseBody, toFailure } from '../response.ts'
import { type Claim, type ClaimOptions, claimSubject, ownSteps } from './claim.ts'
import { type Cipher, createCipher, decryptResponse, withEncryptedSteps } from './encryption.ts'
import type { DeliveryStore } from './store.ts'

/** One delivery of one event. */
export interface Delivery {
  definition: IntegrationDefinition
  operation: Operation
  body: Uint8Array<ArrayBuffer>
  redactor: Redactor
  store: DeliveryStore
  claiming: ClaimOptions
}

/** A claim, and the cipher for its record. */
export interface ClaimedDelivery extends Delivery {
  claim: Claim
  cipher: Cipher
}

/** The result of {@link begin}: work under a claim, work without one, or a response without any work. */
export type Begun =
  | { delivery: ClaimedDelivery; response?: undefined }
  | { delivery?: undefined; response: EventResponse | undefined }

/**
 * Claims an event that has effects.
 *
 * @returns the recorded response if the delivery was answered before, or a refusal if it must not run
 * @throws {IntegrationError} `delivery_in_progress`, `invalid_event` (422) or `overloaded`
 */
export async function begin(delivery: Delivery): Promise<Begun> {
  const { operation, body, store, claiming } = delivery
  const { subject, deliveryId, event } = operation
  if (subject === undefined) return { response: undefined }

  const identity = deliveryId === undefined ? undefined : { id: deliveryId, digest: await digest(body) }
  const result = await claimSubject(store, { subject, delivery: identity }, claiming)
  const cipher = createCipher(body)
  if ('replay' in result) return { response: await decryptResponse(result.replay, cipher) }

  // The next delivery of a deployment has another body, and could not decrypt the steps of this one.
  const isCall = eventTraits[event.name].claims === 'call'
  const claim = isCall ? await withEncryptedSteps(result.claim, cipher) : result.claim
  const claimed = { ...delivery, claim, cipher }
  const refusal = refuse(claimed)
  return refusal ? { response: await end(claimed, refusal) } : { delivery: claimed }
}

/**
 * Records a final response. A retryable failure releases the claim instead: retryable means no effect happened.
 *
 * @returns the response, or a failure if a deployment's response could not be recorded
 */
export async function end(
  { claim, cipher, definition, operation, redactor, claiming }: ClaimedDelivery,
  response: EventResponse,
): Promise<EventResponse> {
  if (response.error?.retryable) {
    await claim.release('undone')
    return response
  }
  const { claims, endsDeployment } = eventTraits[operation.event.name]
  const isCall = claims === 'call'
  // No delivery continues a call after its response.
  const kept = isCall ? {} : { ...claim.progress }
  const progress = endsDeployment && response.status === 200 ? { [ownSteps.deleted]: true } : kept

  const body = withoutSecrets(response.body ?? {}, definition, redactor)
  const recorded = JSON.stringify(body)
  const failure = await claim.complete(
    {
      status: response.status,
      code: response.error?.code,
      at: claiming.now(),
      body: await cipher.encrypt(recorded),
    },
    progress,
  )
  // A call's effect stands even if it is not recorded. A deployment's end must be recorded, or a late CREATED
  // revives it.
  if (failure && !isCall) return toFailure(failure, redactor)
  return body === response.body ? { ...response, json: recorded } : response
}

/** The response to a delivery that must not run, after an earlier one ended the deployment or died in a call. */
function refuse({ operation, claim, redactor }: ClaimedDelivery): EventResponse | undefined {
  const { event, effect, resumable } = operation
  if (event.name === 'DEPLOYMENT_CREATED' && claim.progress[ownSteps.deleted] === true) {
    return { status: 200, body: ignored('The deployment was deleted before this event arrived.') }
  }
  // Intent still set: the previous holder died mid-request. Not set: nothing was sent.
  if (effect && !resumable && claim.progress[ownSteps.intent] === true) {
    const error = new IntegrationError(
      'outcome_unknown',
      'An earlier attempt of this delivery died before it could answer.',
      {
        hint: 'Check at the provider whether it took effect before you call again with a new id.',
        effect: 'unknown',
      },
    )
    return toFailure(error, redactor)
  }
  return undefined
}

/** The body to record. Encryption does not change what must not be stored: sensitive values. */
function withoutSecrets(
  body: ResponseBody,
  definition: IntegrationDefinition,
  redactor: Redactor,
): ResponseBody {
  const { outputs } = body
  if (typeof outputs !== 'object' || outputs === null) return redactor.data(body)
  const { outputs: _, ...rest } = body
  // An output that is not marked as secret is public, even if its value came from the host's environment.
  const sensitive = new Set(secretNames(definition.outputs))
  const open = Object.fromEntries(Object.entries(outputs).filter(([name]) => !sensitive.has(name)))
  return { ...redactor.data(rest), outputs: open }
}

/** SHA-256 in hexadecimal: recognises a body without keeping it. */
async function digest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', body)
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
