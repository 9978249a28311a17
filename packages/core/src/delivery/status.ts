/**
 * What is recorded of a delivery, for a person who wants to know what became of it: never an answer's words,
 * which are sealed, and nothing that may name people.
 *
 * @module
 */
import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { createRedactor, forLogs, type Redactor } from '../redact.ts'
import { subjects } from '../request/operation.ts'
import { ownSteps } from './claim.ts'
import { isEncrypted } from './encryption.ts'
import type { DeliveryStore, SubjectRecord } from './store.ts'

const states = {
  in_progress: 'it is being worked on',
  done: 'it was answered',
  released: 'it was given back for another try',
  abandoned: 'its holder vanished in the middle of the work',
  outcome_unknown: 'its holder vanished when the change may have left already',
}

const time = z.iso.datetime()

/** The schema of what is known of one delivery on one route. */
export const explanationSchema = z.object({
  route: z.string().describe('The integration.'),
  subject: z
    .enum(['call', 'deployment'])
    .describe('What is claimed: one call, or the deployment as a whole.'),
  deployment: z.string().optional(),
  state: z.enum(['in_progress', 'done', 'released', 'abandoned', 'outcome_unknown']).describe(
    Object.entries(states)
      .map(([state, meaning]) => `\`${state}\`: ${meaning}`)
      .join('; '),
  ),
  claims: z.int().describe('How often the subject was claimed, by whichever delivery (its fence).'),
  claimedAt: time.optional().describe('When this delivery claimed it last.'),
  leaseEndsAt: time
    .optional()
    .describe('Until then nobody else works on it, unless it ends or is renewed before.'),
  answer: z
    .object({ status: z.int(), code: z.string().optional(), at: time.optional() })
    .optional()
    .describe('What it was answered. The words are sealed.'),
  steps: z
    .array(
      z.object({
        name: z.string(),
        state: z
          .enum(['begun', 'recorded', 'taken_back'])
          .describe('`begun`: under way, or broken off without an answer.'),
        value: z
          .union([z.string(), z.number(), z.boolean()])
          .optional()
          .describe('Absent where it is sealed, or more than a word.'),
      }),
    )
    .describe('What is written down of the work.'),
  keptUntil: time,
  redelivery: z.string().describe('What the same event would do if it were delivered again now.'),
})

/** What is known of one delivery on one route. */
export type Explanation = z.infer<typeof explanationSchema>

/** What {@link explainDelivery} looks at. */
export interface ExplainOptions {
  store: DeliveryStore
  /** The routes on which the delivery may have arrived. */
  integrations: readonly IntegrationDefinition[]
  deliveryId: string
  /**
   * Deployments are claimed as a whole, so a deployment's events are found under its id alone: by those that
   * were answered, and by the one that claimed it last.
   */
  deploymentId?: string | undefined
  /** Values that must never show. */
  redactor?: Redactor | undefined
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: (() => number) | undefined
}

/**
 * Reads what is recorded of a delivery.
 *
 * @returns one entry for each route that knows it, mostly one or none
 * @throws where the store can't be reached
 */
export async function explainDelivery(options: ExplainOptions): Promise<Explanation[]> {
  const { store, integrations, deliveryId, deploymentId } = options
  const explained = integrations.flatMap((integration) => {
    const call = explainSubject(integration, 'call', subjects.call(integration.name, deliveryId))
    if (deploymentId === undefined) return [call]
    const subject = subjects.deployment(integration.name, deploymentId)
    return [call, explainSubject(integration, 'deployment', subject)]
  })
  return (await Promise.all(explained)).flat()

  async function explainSubject(
    { name: route }: IntegrationDefinition,
    kind: Explanation['subject'],
    subject: string,
  ): Promise<Explanation[]> {
    const record = await store.read(subject)
    if (!record) return []
    const answered = record.responses.find(({ delivery }) => delivery === deliveryId)
    const claimed = kind === 'call' || record.delivery === deliveryId
    // Another delivery's work on the deployment is nothing that this one's sender may ask for.
    if (!answered && !claimed) return []
    const { redactor = createRedactor(), now = Date.now } = options
    const steps = Object.entries(record.progress).map(([name, value]) => describeStep(name, value, redactor))
    const state = answered ? 'done' : stateOf(record)
    const { leaseMs } = record
    return [
      {
        route,
        subject: kind,
        ...(kind === 'deployment' ? { deployment: deploymentId } : {}),
        state,
        claims: record.fence,
        ...(claimed ? { claimedAt: toTime(record.claimedAt) } : {}),
        ...(state === 'in_progress' && leaseMs ? { leaseEndsAt: toTime(now() + leaseMs) } : {}),
        ...(answered ? { answer: toAnswer(answered) } : {}),
        steps,
        keptUntil: toTime(record.expires),
        redelivery: predict(state, steps, record),
      },
    ]
  }
}

function stateOf({ leaseMs, progress }: SubjectRecord): Explanation['state'] {
  if (leaseMs !== undefined && leaseMs > 0) return 'in_progress'
  if (progress[ownSteps.intent] === true) return 'outcome_unknown'
  return leaseMs === undefined ? 'released' : 'abandoned'
}

function describeStep(name: string, value: Json, redactor: Redactor): Explanation['steps'][number] {
  const clean = forLogs(redactor)
  const step = { name: clean.text(name) }
  if (value === null) return { ...step, state: 'taken_back' }
  if (value === 'begun') return { ...step, state: 'begun' }
  if (typeof value === 'object' || (typeof value === 'string' && isEncrypted(value))) {
    return { ...step, state: 'recorded' }
  }
  return { ...step, state: 'recorded', value: typeof value === 'string' ? clean.text(value) : value }
}

function predict(
  state: Explanation['state'],
  steps: Explanation['steps'],
  { progress, leaseMs }: SubjectRecord,
): string {
  switch (state) {
    case 'in_progress':
      return `It is answered 409 (delivery_in_progress) until the work ends, or its lease does: in ${Math.ceil((leaseMs ?? 0) / 1000)} seconds, unless it is renewed.`
    case 'done':
      return 'It gets the recorded answer again, where its body is the same; with another body it is refused (422).'
    case 'outcome_unknown':
      return 'It is answered 409 (outcome_unknown), and nothing is sent: look at the provider whether it took effect.'
    case 'released':
    case 'abandoned':
      return progress[ownSteps.deleted] === true
        ? 'A DEPLOYMENT_CREATED is ignored, because the deployment was deleted; a DEPLOYMENT_DELETED is done again.'
        : goOn(steps)
  }
}

function goOn(steps: Explanation['steps']): string {
  const named = (state: 'begun' | 'recorded') =>
    steps.filter((step) => step.state === state).map(({ name }) => name)
  const [begun, recorded] = [named('begun'), named('recorded')]
  if (begun.length > 0) {
    return `It goes on with the rest. What had begun without an answer (${begun.join(', ')}) is not repeated, and reported as unknown.`
  }
  if (recorded.length > 0) return `It goes on from what is written down: ${recorded.join(', ')}.`
  return 'It runs from the beginning; nothing of it is written down.'
}

function toAnswer({ status, code, at }: SubjectRecord['responses'][number]): Explanation['answer'] {
  return { status, ...(code ? { code } : {}), ...(at ? { at: toTime(at) } : {}) }
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
