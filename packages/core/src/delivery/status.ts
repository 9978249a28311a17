import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { createRedactor, forLogs, type Redactor } from '../redact.ts'
import { subjects } from '../request/operation.ts'
import { ownSteps } from './claim.ts'
import { isEncrypted } from './encryption.ts'
import type { DeliveryStore, SubjectRecord } from './store.ts'

const states = {
  in_progress: 'a host is working on it',
  done: 'the host answered it',
  released: 'the host released it for a retry',
  abandoned: 'the host died during the work',
  outcome_unknown: 'the host died after it may have sent the change',
}
const stateList = Object.entries(states).map(([state, meaning]) => `\`${state}\`: ${meaning}`)

const time = z.iso.datetime()

/** The schema of the status of one delivery on one route: no secrets, no bodies, no personal data. */
export const deliveryStatusSchema = z.object({
  route: z.string().describe('The integration.'),
  subject: z.enum(['call', 'deployment']).describe('What the host claims: one call, or a whole deployment.'),
  deployment: z.string().optional(),
  state: z
    .enum(['in_progress', 'done', 'released', 'abandoned', 'outcome_unknown'])
    .describe(stateList.join('; ')),
  claims: z.int().describe('The number of claims of the subject, by any delivery (its fence).'),
  claimedAt: time.optional().describe('The time of this delivery’s last claim.'),
  leaseEndsAt: time.optional().describe('No other host works on it before, unless the work ends earlier.'),
  response: z
    .object({ status: z.int(), code: z.string().optional(), at: time.optional() })
    .optional()
    .describe('The recorded response, without its body, which is encrypted.'),
  steps: z
    .array(
      z.object({
        name: z.string(),
        state: z
          .enum(['begun', 'recorded', 'taken_back'])
          .describe('`begun`: in progress, or interrupted without a result.'),
        value: z
          .union([z.string(), z.number(), z.boolean()])
          .optional()
          .describe('Absent if the value is encrypted, or no scalar.'),
      }),
    )
    .describe('The recorded steps of the work.'),
  keptUntil: time,
  redelivery: z.string().describe('What the host would do now if it received the same event again.'),
})

/** The status of one delivery on one route. */
export type DeliveryStatus = z.infer<typeof deliveryStatusSchema>

type State = DeliveryStatus['state']
type Steps = DeliveryStatus['steps']

/** Options of {@link readDeliveryStatus}. */
export interface DeliveryStatusOptions {
  store: DeliveryStore
  /** The routes on which the delivery may have arrived. */
  integrations: readonly IntegrationDefinition[]
  deliveryId: string
  /** Finds the deliveries of a deployment's events, which the store records under the deployment's id alone. */
  deploymentId?: string | undefined
  /** Removes secrets from the steps. */
  redactor?: Redactor | undefined
  /** @default Date.now */
  now?: (() => number) | undefined
}

/**
 * Reads the status of a delivery.
 *
 * @returns one entry for each route that knows the delivery: mostly one or none
 * @throws if the store can't be reached
 */
export async function readDeliveryStatus(options: DeliveryStatusOptions): Promise<DeliveryStatus[]> {
  const { store, integrations, deliveryId, deploymentId } = options
  const { redactor = createRedactor(), now = Date.now } = options
  const found = integrations.flatMap(({ name }) => {
    const call = readStatus(name, 'call', subjects.call(name, deliveryId))
    if (deploymentId === undefined) return [call]
    return [call, readStatus(name, 'deployment', subjects.deployment(name, deploymentId))]
  })
  return (await Promise.all(found)).flat()

  async function readStatus(
    route: string,
    kind: DeliveryStatus['subject'],
    subject: string,
  ): Promise<DeliveryStatus[]> {
    const record = await store.read(subject)
    const response = record?.responses.find(({ delivery }) => delivery === deliveryId)
    const claimed = kind === 'call' || record?.delivery === deliveryId
    // The sender of one delivery may not see what another did with the deployment.
    if (!record || !(response || claimed)) return []
    const steps = Object.entries(record.progress).map(([name, value]) => describeStep(name, value, redactor))
    const state = response ? 'done' : stateOf(record)
    const { leaseMs } = record
    return [
      {
        route,
        subject: kind,
        deployment: kind === 'deployment' ? deploymentId : undefined,
        state,
        claims: record.fence,
        ...(claimed && { claimedAt: toTime(record.claimedAt) }),
        leaseEndsAt: state === 'in_progress' && leaseMs ? toTime(now() + leaseMs) : undefined,
        response: response && {
          status: response.status,
          code: response.code,
          at: response.at === undefined ? undefined : toTime(response.at),
        },
        steps,
        keptUntil: toTime(record.expires),
        redelivery: predict(state, steps, record),
      },
    ]
  }
}

function stateOf({ leaseMs, progress }: SubjectRecord): State {
  if (leaseMs !== undefined && leaseMs > 0) return 'in_progress'
  if (progress[ownSteps.intent] === true) return 'outcome_unknown'
  return leaseMs === undefined ? 'released' : 'abandoned'
}

function describeStep(name: string, value: Json, redactor: Redactor): Steps[number] {
  const clean = forLogs(redactor)
  const step = { name: clean.text(name) }
  if (value === null) return { ...step, state: 'taken_back' }
  if (value === 'begun') return { ...step, state: 'begun' }
  const hidden = typeof value === 'object' || (typeof value === 'string' && isEncrypted(value))
  if (hidden) return { ...step, state: 'recorded' }
  return { ...step, state: 'recorded', value: typeof value === 'string' ? clean.text(value) : value }
}

/** Predicts the result of a redelivery. */
function predict(state: State, steps: Steps, { progress, leaseMs = 0 }: SubjectRecord): string {
  const named = (wanted: string) =>
    steps.flatMap(({ name, state }) => (state === wanted ? [name] : [])).join(', ')
  const [begun, recorded] = [named('begun'), named('recorded')]
  if (state === 'in_progress')
    return `The host answers 409 (delivery_in_progress) until the work or its lease ends, in ${Math.ceil(leaseMs / 1000)} seconds at most unless the lease is renewed.`
  if (state === 'done')
    return 'The host sends the recorded response again if the body is the same, and refuses another body (422).'
  if (state === 'outcome_unknown')
    return 'The host answers 409 (outcome_unknown) and sends nothing. Check with the provider whether the change took effect.'
  if (progress[ownSteps.deleted] === true)
    return 'A DEPLOYMENT_CREATED is ignored because the deployment was deleted. A DEPLOYMENT_DELETED runs again.'
  if (begun)
    return `It continues with the rest. Each step that began without a result (${begun}) is not repeated, and reported as unknown.`
  if (recorded) return `It continues from the recorded steps: ${recorded}.`
  return 'It runs from the beginning: no step is recorded.'
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
