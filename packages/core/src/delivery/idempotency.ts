/**
 * Effects happen once (contract §4): `begin` claims an event or replays its response, `end` records the response
 * or releases the claim.
 */
import type { Json } from '../contract/handler-context.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretOutputs } from '../contract/marks.ts'
import { type DeploymentStatus, deploymentStatus } from '../contract/platform.ts'
import { IntegrationError } from '../errors.ts'
import type { Redactor } from '../redact.ts'
import type { Operation } from '../request/operation.ts'
import { type Claim, type ClaimOptions, claimSubject, handlerSteps, inTime, reservedSteps } from './claim.ts'
import { type BodyHash, type Cipher, encryptSteps, type RecordKeys } from './encryption.ts'
import { type EventResponse, ignored, type ResponseBody, sentIn, toFailure } from './response.ts'
import { settlementOf } from './settlement.ts'
import type { DeliveryStore, RecordedResponse } from './store.ts'

/** One delivery of one event. */
interface Delivery {
  definition: IntegrationDefinition
  operation: Operation
  hash: BodyHash
  redactor: Redactor
  keys: RecordKeys
  store: DeliveryStore
  claiming: ClaimOptions
}

/** A claim, and the cipher for its record. */
interface ClaimedDelivery extends Delivery {
  claim: Claim
  cipher: Cipher
}

/**
 * Claims an event that has effects.
 *
 * @returns `claimed` unless the event was answered before. With a `response`, recorded or a refusal, the handler must
 * not run.
 * @throws {IntegrationError} `delivery_in_progress`, `invalid_event` (422) or `overloaded`
 */
export async function begin(
  delivery: Delivery,
): Promise<{ claimed?: ClaimedDelivery; response?: EventResponse | undefined }> {
  const { operation, hash, keys, store, claiming } = delivery
  const { subject, deliveryId, traits } = operation
  if (subject === undefined) return {}

  const identity = deliveryId === undefined ? undefined : { id: deliveryId, digests: keys.digests(hash) }
  const cipher = keys.cipher(hash, subject, deliveryId)
  const isCall = traits.claims === 'call'
  // The next delivery of a deployment has another body, and could not decrypt the steps of this one.
  const request = { subject, delivery: identity, cipher: isCall ? cipher : undefined }
  const result = await claimSubject(store, request, claiming)
  if ('replay' in result) {
    const response = await decryptResponse(result.replay.response, cipher)
    return { response: isCall ? response : await unlessOutdated(response, result.replay.fence, delivery) }
  }
  const claimed = { ...delivery, claim: result.claim, cipher }
  try {
    const response = await (isCall ? refuseCall(claimed) : refuseDeploymentEvent(claimed))
    return { claimed, response }
  } catch (error) {
    await claimed.claim.release('unknown')
    throw error
  }
}

/**
 * Records a final response. A retryable failure releases the claim instead: retryable means no effect happened.
 *
 * @param by when the response must leave, in milliseconds since 1970
 * @returns the response, or a failure if a deployment's response could not be recorded by then
 */
export async function end(
  { claim, cipher, definition, operation, redactor, claiming }: ClaimedDelivery,
  response: EventResponse,
  by: number,
): Promise<EventResponse> {
  // A person may have removed meanwhile what a deletion was refused for.
  if (response.error?.retryable || response.error?.code === 'deletion_refused') {
    await claim.release('undone')
    return response
  }
  const isCall = operation.traits.claims === 'call'
  const isUnknown = response.error?.code === 'outcome_unknown' || response.fates?.unknown
  // No delivery continues a call after its response, unless an operator settles what is unknown.
  const ofCall = isUnknown ? { ...claim.progress, [reservedSteps.intent]: true } : {}
  const progress = isCall
    ? await encryptSteps(ofCall, cipher)
    : nextProgress(operation, claim.progress, response, claiming.now())
  const body = withoutSecrets(response.body ?? {}, definition, redactor.sparing(sentIn(operation.event)))
  const recorded = JSON.stringify(body)
  const completion = {
    response: {
      status: response.status,
      code: response.error?.code,
      at: claiming.now(),
      body: await cipher.encrypt(recorded, kindOf(response.status)),
    },
    progress,
    isLiving: !isCall && isLiving(progress),
  }
  // A call's effect stands even if it is not recorded, so its response does not wait. A deployment's end must be
  // recorded, or a late CREATED revives it.
  const failure = await claim.complete(completion, isCall ? undefined : by)
  if (failure && !isCall) return toFailure(failure, redactor)
  return body === response.body ? { ...response, json: recorded } : response
}

/** The record of a deployment after an event: who is deleted, when the last event happened, and the last status. */
function nextProgress(
  { traits, happenedAt }: Operation,
  progress: Claim['progress'],
  { status, body, deploymentStatus: reported }: EventResponse,
  now: number,
): Record<string, Json> {
  if (status !== 200 || body?.status === 'ignored') {
    return { ...progress, ...(reported && { [reservedSteps.status]: reported }) }
  }
  const last = lastTime(progress, now)
  const done = {
    [reservedSteps.status]: reported ?? null,
    [reservedSteps.happenedAt]: happenedAt ?? last ?? null,
  }
  if (traits.publishes) return { ...progress, ...done, [reservedSteps.published]: true }
  // Without a timestamp, it happened after everything that was done before, also by a platform whose clock is ahead.
  const deletedAt = happenedAt ?? Math.max(now, last ?? now)
  return { ...done, [reservedSteps.happenedAt]: deletedAt, [reservedSteps.deleted]: true }
}

/** A longer way ahead, a platform's clock is wrong. In milliseconds. */
const CLOCK_TOLERANCE_MS = 5 * 60_000

/** Whether a time is so far in the future that it cannot be that of an event. */
export const isAhead = (time: number, now: number) => time > now + CLOCK_TOLERANCE_MS

/** When the last event of a deployment happened. A time of the future does not count: it would freeze the deployment. */
function lastTime(progress: Readonly<Record<string, Json>>, now: number): number | undefined {
  const time = progress[reservedSteps.happenedAt]
  return typeof time === 'number' && !isAhead(time, now) ? time : undefined
}

/** Whether a record belongs to a deployment that was published, or left something at the provider. */
function isLiving(progress: Readonly<Record<string, Json>>): boolean {
  if (progress[reservedSteps.deleted] === true) return false
  const hasSteps = handlerSteps(progress).some(([, value]) => value !== null)
  return hasSteps || progress[reservedSteps.published] === true
}

/** A call whose earlier attempt died: with the intent still set, it died mid-request; else nothing was sent. */
async function refuseCall(claimed: ClaimedDelivery): Promise<EventResponse | undefined> {
  const { operation, claim, redactor } = claimed
  // Nothing was recorded before.
  if (Object.keys(claim.progress).length === 0) return undefined
  const settlement = settlementOf(claim.progress)
  if (settlement?.outcome === 'sent') {
    const result = await settledResult(claimed, settlement)
    if (result?.success)
      return { status: 200, body: { result: result.data, settled: { outcome: 'sent', at: settlement.at } } }
  } else if (operation.resumable || claim.progress[reservedSteps.intent] !== true) return undefined
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

const kindOf = (status: number) => `response ${status}`

/**
 * The recorded response of a delivery.
 *
 * @throws {IntegrationError} `outcome_unknown` if the record is damaged: the work was done, and must not be repeated
 */
async function decryptResponse(
  { status, body }: RecordedResponse,
  cipher: Cipher,
): Promise<EventResponse & { json: string }> {
  try {
    return { status, json: await cipher.decrypt(body, kindOf(status)), replayed: true }
  } catch (cause) {
    const message = 'This delivery was answered before, but the record of its response is unreadable.'
    const hint = 'Check at the provider whether it took effect.'
    throw new IntegrationError('outcome_unknown', message, { hint, cause })
  }
}

/** The result of a call whose messages an operator found at the provider. */
async function settledResult(
  { operation: { event, function: called }, cipher }: ClaimedDelivery,
  { messageId, at, answer }: NonNullable<ReturnType<typeof settlementOf>>,
) {
  if (event.name !== 'FUNCTION_CALL' || !called) return undefined
  const recorded = answer === null ? undefined : await decryptResponse({ status: 200, body: answer }, cipher)
  const { result }: ResponseBody = recorded ? JSON.parse(recorded.json) : {}
  const { settled, result: schema } = called.definition
  return schema.safeParse(settled?.({ arguments: event.functionCall.arguments, messageId, at, result }))
}

/** An event that is older than the last one, or a creation after the deletion. */
async function refuseDeploymentEvent({
  operation,
  claim,
  claiming,
}: ClaimedDelivery): Promise<EventResponse | undefined> {
  const { traits, happenedAt } = operation
  const last = lastTime(claim.progress, claiming.now())
  const isDeleted = claim.progress[reservedSteps.deleted] === true
  const isLater = happenedAt !== undefined && (last === undefined || happenedAt > last)
  const isOlder = happenedAt !== undefined && last !== undefined && happenedAt < last
  if (traits.life === 'begins' && isDeleted) {
    if (!isLater) {
      const time = last === undefined ? '' : ` at ${new Date(last).toISOString()}`
      const reason = `The deployment was deleted${time}. An event with a later timestamp creates it anew.`
      return { status: 200, body: ignored(reason) }
    }
    // A new deployment begins under this id.
    const earlier = Object.fromEntries(Object.keys(claim.progress).map((name) => [name, null]))
    await claim.record({
      ...earlier,
      [reservedSteps.status]: 'deploying',
      // So that an event from before the deletion stays too late, even if this one fails.
      [reservedSteps.happenedAt]: last ?? null,
      [reservedSteps.published]: false,
      [reservedSteps.since]: claim.lease.fence,
    })
    return undefined
  }
  if (!isOlder) return undefined
  const time = new Date(last).toISOString()
  return { status: 200, body: ignored(`A later event of this deployment, of ${time}, was handled before.`) }
}

/** A replayed response of a deployment. A later deletion or deployment outdates it. */
async function unlessOutdated(
  response: EventResponse,
  fence: number,
  { store, operation: { traits, subject = '' }, claiming }: Delivery,
): Promise<EventResponse> {
  const record = await inTime(store.read(subject), claiming.claimBy).catch(() => undefined)
  if (!record) return response
  const { [reservedSteps.deleted]: deleted, [reservedSteps.since]: since } = record.progress
  const isDeleted = deleted === true && traits.life !== 'ends'
  const isEarlier = typeof since === 'number' && fence < since
  if (!isDeleted && !isEarlier) return response
  return { status: 200, body: ignored('The deployment was deleted, or created anew, since this event.') }
}

/** The last status of a deployment that was reported, by its record. */
export function lastStatus(progress: Readonly<Record<string, Json>>): DeploymentStatus | undefined {
  return deploymentStatus.safeParse(progress[reservedSteps.status]).data
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
  const sensitive = secretOutputs(definition.outputs)
  const open = Object.fromEntries(Object.entries(outputs).filter(([name]) => !sensitive.has(name)))
  return { ...redactor.data(rest), outputs: open }
}
