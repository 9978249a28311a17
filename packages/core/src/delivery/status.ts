/** The records of deliveries, deployments and resources, for operators. Nothing here claims or changes anything. */
import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretOutputs } from '../contract/marks.ts'
import { createRedactor, dataForLog, type Redactor, textForLog } from '../redact.ts'
import { subjects } from '../request/operation.ts'
import { handlerSteps, reservedSteps } from './claim.ts'
import { isEncrypted } from './encryption.ts'
import { deliveryStates, stateOf } from './settlement.ts'
import type { DeliveryStore } from './store.ts'

const time = z.iso.datetime()
const scalar = z.union([z.string(), z.number(), z.boolean()])

/** The schema of the status of one delivery on one route: no secrets, no bodies, no personal data. */
export const deliveryStatusSchema = z.object({
  route: z.string().describe('The integration.'),
  subject: z.enum(['call', 'deployment']).describe('What the host claims: one call, or a whole deployment.'),
  deployment: z.string().optional(),
  state: z
    .enum(deliveryStates)
    .describe(
      'What a redelivery meets. `in_progress`: 409 until the work or its lease ends. `done`, `settled_sent`: the response. `released`, `abandoned`: it runs, and continues from the recorded steps. `outcome_unknown`: 409, or what a batch did; check with the provider, and settle it. `settled_not_sent`: it does again what was unknown.',
    ),
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
        state: z.enum(['begun', 'recorded', 'taken_back']).describe('`begun`: without a result.'),
        value: z
          .union([scalar, z.record(z.string(), scalar)])
          .optional()
          .describe('A scalar; of an object, the fields that are public outputs. Absent if it is encrypted.'),
      }),
    )
    .describe('The steps that the integration recorded.'),
  keptUntil: time,
})

type DeliveryStatus = z.infer<typeof deliveryStatusSchema>

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

  async function readStatus(integration: IntegrationDefinition, deployment?: string) {
    const { name: route, outputs } = integration
    const isCall = deployment === undefined
    const subject = isCall ? subjects.call(route, deliveryId) : subjects.deployment(route, deployment)
    const record = await store.read(subject, deliveryId)
    // The sender of one delivery may not see what another did with the deployment.
    const isLast = isCall || record?.delivery === deliveryId
    if (!record || !(record.response || isLast)) return []
    const secrets = secretOutputs(outputs)
    const shown = isCall ? [] : Object.keys(outputs.shape).filter((name) => !secrets.has(name))
    const state = stateOf(record)
    const { leaseMs = 0, response } = record
    const status: DeliveryStatus = {
      ...{ route, subject: isCall ? 'call' : 'deployment', deployment, state, claims: record.fence },
      claimedAt: isLast ? toTime(record.claimedAt) : undefined,
      leaseEndsAt: state === 'in_progress' ? toTime(now() + leaseMs) : undefined,
      response: response && { ...response, at: response.at === undefined ? undefined : toTime(response.at) },
      steps: handlerSteps(record.progress).map(([name, value]) => describeStep(name, value, shown, redactor)),
      keptUntil: toTime(record.expires),
    }
    return [status]
  }

  const found = integrations.flatMap((integration) => [
    readStatus(integration),
    ...(deploymentId === undefined ? [] : [readStatus(integration, deploymentId)]),
  ])
  return (await Promise.all(found)).flat()
}

/** @param shown the fields of an object that are not secret */
function describeStep(
  name: string,
  value: Json,
  shown: readonly string[],
  redactor: Redactor,
): DeliveryStatus['steps'][number] {
  const step = { name: textForLog(redactor, name) }
  if (value === null) return { ...step, state: 'taken_back' }
  if (typeof value === 'string' && /^begun\b/.test(value)) return { ...step, state: 'begun' }
  if (isEncrypted(value)) return { ...step, state: 'recorded' }
  if (typeof value !== 'object') return { ...step, state: 'recorded', value: dataForLog(redactor, value) }
  const fields = Object.entries(value).flatMap(([field, content]) => {
    const found = shown.includes(field) ? scalar.safeParse(content).data : undefined
    return found === undefined ? [] : [[field, dataForLog(redactor, found)] as const]
  })
  return { ...step, state: 'recorded', ...(fields.length > 0 && { value: Object.fromEntries(fields) }) }
}

const toTime = (milliseconds: number) => new Date(milliseconds).toISOString()

/**
 * Reads which deployment reserved a resource of the provider.
 *
 * @param resource the name that was given to `progress.reserve`
 * @returns the id of the deployment; `undefined` if no deployment is recorded
 * @throws if the store is unreachable
 */
export async function readResourceOwner(
  store: DeliveryStore,
  route: string,
  resource: string,
): Promise<string | undefined> {
  const owner = (await store.read(`${route}/${resource}`))?.progress.owner
  const prefix = subjects.deployment(route, '')
  return typeof owner === 'string' && owner.startsWith(prefix) ? owner.slice(prefix.length) : undefined
}

/**
 * Reads the record of a deployment: whether a host works on it, whether it was deleted, and its handlers' steps.
 *
 * @returns `undefined` if there is none, or no longer
 * @throws if the store is unreachable
 */
export async function readRecordedDeployment(store: DeliveryStore, route: string, deploymentId: string) {
  const record = await store.read(subjects.deployment(route, deploymentId))
  if (!record) return undefined
  const { leaseMs = 0, progress } = record
  return { isClaimed: leaseMs > 0, isDeleted: progress[reservedSteps.deleted] === true, steps: progress }
}
