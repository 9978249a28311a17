import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretNames } from '../contract/marks.ts'
import { deploymentStatus } from '../contract/platform.ts'
import { createRedactor, dataForLog, type Redactor, textForLog } from '../redact.ts'
import { subjects } from '../request/operation.ts'
import { ownSteps } from './claim.ts'
import { lastStatus } from './idempotency.ts'
import { isEncrypted } from './keys.ts'
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
const scalar = z.union([z.string(), z.number(), z.boolean()])

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
          .union([scalar, z.record(z.string(), scalar)])
          .optional()
          .describe('A scalar; of an object, the fields that are public outputs. Absent if it is encrypted.'),
      }),
    )
    .describe('The steps that the integration recorded.'),
  life: z
    .object({
      deleted: z.boolean().describe('Whether the deployment was deleted.'),
      lastStatus: deploymentStatus
        .optional()
        .describe('The last status that the host reported. If it got lost, a redelivery reports it again.'),
      lastEventAt: time
        .optional()
        .describe('The `timestamp` of the last event that was handled. Earlier events are ignored.'),
    })
    .optional()
    .describe('What is known of the deployment after all its events. Absent for a call.'),
  keptUntil: time,
  redelivery: z.string().describe('What the host would do now if it received the same event again.'),
})

/** The status of one delivery on one route. */
type DeliveryStatus = z.infer<typeof deliveryStatusSchema>

type State = DeliveryStatus['state']
type Steps = DeliveryStatus['steps']
type Life = NonNullable<DeliveryStatus['life']>

/** Options of {@link readDeliveryStatus}. */
interface DeliveryStatusOptions {
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
  const found = integrations.flatMap((integration) => {
    const { name } = integration
    const call = readStatus(integration, 'call', subjects.call(name, deliveryId))
    if (deploymentId === undefined) return [call]
    return [call, readStatus(integration, 'deployment', subjects.deployment(name, deploymentId))]
  })
  return (await Promise.all(found)).flat()

  async function readStatus(
    { name: route, outputs }: IntegrationDefinition,
    kind: DeliveryStatus['subject'],
    subject: string,
  ): Promise<DeliveryStatus[]> {
    const record = await store.read(subject, deliveryId)
    const response = record?.response
    const claimed = kind === 'call' || record?.delivery === deliveryId
    // The sender of one delivery may not see what another did with the deployment.
    if (!record || !(response || claimed)) return []
    const secrets = secretNames(outputs)
    const shown = kind === 'call' ? [] : Object.keys(outputs.shape).filter((name) => !secrets.includes(name))
    const steps = Object.entries(record.progress)
      .filter(([name]) => !coreSteps.has(name))
      .map(([name, value]) => describeStep(name, value, shown, redactor))
    const life = kind === 'deployment' ? describeLife(record.progress) : undefined
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
        ...(life && { life }),
        keptUntil: toTime(record.expires),
        redelivery: predict(state, steps, life, record),
      },
    ]
  }
}

function stateOf({ leaseMs, progress }: SubjectRecord): State {
  if (leaseMs !== undefined && leaseMs > 0) return 'in_progress'
  if (progress[ownSteps.intent] === true) return 'outcome_unknown'
  return leaseMs === undefined ? 'released' : 'abandoned'
}

const coreSteps = new Set<string>(Object.values(ownSteps))

/** @param shown the fields of an object that are not secret */
function describeStep(
  name: string,
  value: Json,
  shown: readonly string[],
  redactor: Redactor,
): Steps[number] {
  const step = { name: textForLog(redactor, name) }
  if (value === null) return { ...step, state: 'taken_back' }
  if (value === 'begun') return { ...step, state: 'begun' }
  if (typeof value === 'object') {
    const fields = Object.entries(value).flatMap(([field, content]) => {
      const found = scalar.safeParse(content).data
      return found === undefined || !shown.includes(field)
        ? []
        : [[field, dataForLog(redactor, found)] as const]
    })
    if (fields.length === 0) return { ...step, state: 'recorded' }
    return { ...step, state: 'recorded', value: Object.fromEntries(fields) }
  }
  if (typeof value === 'string' && isEncrypted(value)) return { ...step, state: 'recorded' }
  return { ...step, state: 'recorded', value: dataForLog(redactor, value) }
}

function describeLife(progress: SubjectRecord['progress']): Life {
  const status = lastStatus(progress)
  const happenedAt = progress[ownSteps.happenedAt]
  return {
    deleted: progress[ownSteps.deleted] === true,
    ...(status && { lastStatus: status }),
    ...(typeof happenedAt === 'number' && { lastEventAt: toTime(happenedAt) }),
  }
}

/** Predicts the result of a redelivery. */
function predict(
  state: State,
  steps: Steps,
  life: Life | undefined,
  { progress, leaseMs = 0 }: SubjectRecord,
): string {
  const named = (wanted: string) =>
    steps.flatMap(({ name, state }) => (state === wanted ? [name] : [])).join(', ')
  const [begun, recorded] = [named('begun'), named('recorded')]
  if (state === 'in_progress') {
    const sent =
      progress[ownSteps.intent] === true
        ? ' A change may have left: if the host dies, the outcome is unknown.'
        : ''
    return `The host answers 409 (delivery_in_progress) until the work or its lease ends, in ${Math.ceil(leaseMs / 1000)} seconds at most unless the lease is renewed.${sent}`
  }
  if (state === 'done') {
    const healing = life?.lastStatus ? ` It reports the status ${life.lastStatus} to the platform again.` : ''
    const outdated = life?.deleted ? ' A DEPLOYMENT_CREATED is ignored: the deployment was deleted.' : ''
    return `The host sends the recorded response again if the body is the same, and refuses another body (422).${outdated}${healing}`
  }
  if (state === 'outcome_unknown')
    return 'The host answers 409 (outcome_unknown) and sends nothing. Check with the provider whether the change took effect.'
  const order = life?.lastEventAt
    ? ` The host ignores it if its timestamp is earlier than ${life.lastEventAt}.`
    : ''
  if (life?.deleted) {
    const later = life.lastEventAt ? ` unless its timestamp is later than ${life.lastEventAt}` : ''
    return `A DEPLOYMENT_CREATED is ignored because the deployment was deleted${later}. A DEPLOYMENT_DELETED runs again.`
  }
  if (begun)
    return `It continues with the rest. Each step that began without a result (${begun}) is not repeated, and reported as unknown.${order}`
  if (recorded) return `It continues from the recorded steps: ${recorded}.${order}`
  return `It runs from the beginning: no step is recorded.${order}`
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
