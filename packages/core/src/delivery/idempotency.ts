/**
 * What must happen once: which events are claimed, what a claim forbids, and what is recorded of an answer
 * (contract §4).
 *
 * @module
 */
import { lookUpFunction } from '../pipeline/dispatch.ts'
import { type Answer, failed, ignored } from '../response.ts'
import { type Claim, type ClaimOptions, claimSubject } from './claim.ts'
import type { DeliveryStore } from './store.ts'
import { IntegrationError } from '../errors.ts'
import type { PlatformEvent } from '../contract/event.ts'
import { type IntegrationDefinition, secretNames } from '../contract/integration.ts'
import type { Redactor } from '../redact.ts'
import { digest } from '../request/read.ts'
import { createSeal } from './encryption.ts'
import { openAnswer, sealAnswer, withSealedNotes } from './record.ts'

/** One delivery of one event. */
export interface Delivery {
  definition: IntegrationDefinition
  store: DeliveryStore
  claiming: ClaimOptions
  redactor: Redactor
  event: PlatformEvent
  /** Without one, a call of a function is not de-duplicated. */
  deliveryId: string | undefined
  body: Uint8Array<ArrayBuffer>
}

/**
 * Handles an event under a claim where it has effects, and plainly where it has none. What was done before is
 * answered from the record; what may succeed later leaves no record.
 */
export async function once(
  delivery: Delivery,
  handle: (claim: Claim | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { store, event, deliveryId } = delivery
  const subject = subjectOf(delivery)
  if (subject === undefined) return handle(undefined)

  const identity =
    deliveryId === undefined ? undefined : { id: deliveryId, digest: await digest(delivery.body) }
  const outcome = await claimSubject(store, { subject, delivery: identity }, delivery.claiming)
  const seal = createSeal(delivery.body)
  if ('replay' in outcome) return { ...(await openAnswer(outcome.replay, seal)), replayed: true }

  const { claim } = outcome
  // Another delivery goes on with a deployment, and could not open what this one sealed.
  const noted = event.name === 'FUNCTION_CALL' ? await withSealedNotes(claim, seal) : claim
  const answer = forbidden(delivery, claim) ?? (await handleOrRelease(noted, handle))
  // What may be tried again certainly had no effect.
  if (answer.error?.retryable) await claim.release('undone')
  else {
    const deleted = event.name === 'DEPLOYMENT_DELETED' && answer.status === 200
    // A call is never gone on with after its answer.
    const steps = event.name === 'FUNCTION_CALL' ? {} : { ...claim.progress }
    const progress = deleted ? { deleted: true } : steps
    const recorded = await sealAnswer(recordable(answer, delivery), seal)
    const end = { ...recorded, code: answer.error?.code, at: delivery.claiming.now() }
    const unrecorded = await claim.complete(end, progress)
    // What was sent, was sent. But a deployment can be gone on with, and its end rests on the record: a
    // creation that comes late would not know of a deletion that the platform takes for done.
    if (unrecorded && event.name !== 'FUNCTION_CALL') return failed(unrecorded, delivery.redactor)
  }
  return answer
}

async function handleOrRelease(claim: Claim, handle: (claim: Claim) => Promise<Answer>): Promise<Answer> {
  try {
    return await handle(claim)
  } catch (error) {
    await claim.release('unknown')
    throw error
  }
}

/** Whether an event is the call of a function that creates, changes, deletes or sends. */
export function hasEffect(definition: IntegrationDefinition, event: PlatformEvent): boolean {
  return (
    event.name === 'FUNCTION_CALL' &&
    definition.events.includes('FUNCTION_CALL') &&
    lookUpFunction(definition, event.functionCall.name)?.definition.effect === true
  )
}

/** Whether an event is the call of a function that has an effect, and can't go on from what it wrote down. */
export function neverTwice(definition: IntegrationDefinition, event: PlatformEvent): boolean {
  if (!hasEffect(definition, event) || event.name !== 'FUNCTION_CALL') return false
  return lookUpFunction(definition, event.functionCall.name)?.definition.resumable !== true
}

/** The names under which claims are made, on a route of its own each. */
export const subjects = {
  deployment: ({ name }: { name: string }, deploymentId: string) => `${name}/deployment/${deploymentId}`,
  call: ({ name }: { name: string }, deliveryId: string) => `${name}/delivery/${deliveryId}`,
}

/** What is claimed: a deployment as a whole, or one delivery of a call that has an effect. */
function subjectOf({ definition, event, deliveryId }: Delivery): string | undefined {
  if (event.name === 'DEPLOYMENT_CREATED' || event.name === 'DEPLOYMENT_DELETED') {
    const handled = definition.events.includes(event.name)
    return handled ? subjects.deployment(definition, event.deployment.id) : undefined
  }
  if (deliveryId === undefined || !hasEffect(definition, event)) return undefined
  return subjects.call(definition, deliveryId)
}

function forbidden({ definition, event, redactor }: Delivery, claim: Claim): Answer | undefined {
  if (event.name === 'DEPLOYMENT_CREATED' && claim.progress.deleted === true) {
    return { status: 200, body: ignored('The deployment was deleted before this event arrived.') }
  }
  // A holder that could end its work has taken its intent back or answered; without one nothing had left.
  if (neverTwice(definition, event) && claim.progress.intent === true) {
    const error = new IntegrationError(
      'outcome_unknown',
      'An earlier try of this delivery died before it could answer.',
      {
        hint: 'Look at the provider whether it took effect before calling again with a new id.',
        sent: 'unknown',
      },
    )
    return failed(error, redactor)
  }
  return undefined
}

/** The answer as it may be kept, also under seal: without sensitive values. */
function recordable({ status, body }: Answer, { definition, redactor }: Delivery): Answer {
  const { outputs, ...rest } = body
  const clean = redactor.data(rest)
  if (typeof outputs !== 'object' || outputs === null) return { status, body: clean }
  // What is not marked as secret is public, also where its value came from the host's environment.
  const sensitive = new Set(secretNames(definition.outputs))
  const open = Object.fromEntries(Object.entries(outputs).filter(([name]) => !sensitive.has(name)))
  return { status, body: { ...clean, outputs: open } }
}
