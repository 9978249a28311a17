/** Deliveries whose outcome is unknown, and what an operator found out about them at the provider. */
import * as z from 'zod'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { functionArguments, summarise } from '../contract/validation.ts'
import { type FieldError, IntegrationError } from '../errors.ts'
import { parseArguments } from '../request/fields.ts'
import { subjects } from '../request/operation.ts'
import { handlerSteps, inProgress, reservedSteps } from './claim.ts'
import type { DeliveryStore, SubjectRecord } from './store.ts'

const outcome = z.enum(['sent', 'not_sent'])

/** The schema of what an operator says. */
export const settlementSchema = functionArguments({
  route: z.string().describe('The integration.'),
  outcome: outcome.describe('What happened; of a batch, to all messages whose fate is unknown.'),
  messageId: z.string().max(200).optional().describe('The provider’s id of a single message that was sent.'),
}).meta({ examples: [{ route: 'mailer', outcome: 'not_sent' }] })

/** With the handler’s steps until then, and the encrypted response if it was a success. */
const recorded = z.object({
  ...{ outcome, messageId: z.string().nullable(), at: z.string() },
  ...{ steps: z.array(z.string()), answer: z.string().nullable() },
})

/** Reads the settlement of a call from its steps; `undefined` if there is none. */
export const settlementOf = (progress: SubjectRecord['progress']) =>
  recorded.safeParse(progress[reservedSteps.settled]).data

export const deliveryStates = [
  ...(['in_progress', 'done', 'released', 'abandoned', 'outcome_unknown'] as const),
  ...(['settled_sent', 'settled_not_sent'] as const),
] as const

/** The state of a delivery. */
export function stateOf({ leaseMs, progress, response }: SubjectRecord): (typeof deliveryStates)[number] {
  const isUnknown = progress[reservedSteps.intent] === true
  if (response && !isUnknown) return 'done'
  if (leaseMs !== undefined && leaseMs > 0) return 'in_progress'
  if (isUnknown) return 'outcome_unknown'
  const settlement = settlementOf(progress)
  if (settlement) return `settled_${settlement.outcome}`
  return leaseMs === undefined ? 'released' : 'abandoned'
}

/**
 * Settles a delivery whose outcome is unknown, so that a redelivery answers, or tries again.
 *
 * @param given is parsed by {@link settlementSchema}
 * @returns what was recorded; `undefined` if there is no record of the delivery
 * @throws {IntegrationError} `invalid_arguments`, or `delivery_in_progress`
 */
export async function settleDelivery(
  store: DeliveryStore,
  integrations: readonly IntegrationDefinition[],
  deliveryId: string,
  given: unknown,
): Promise<Pick<z.infer<typeof settlementSchema>, 'route' | 'outcome'> | undefined> {
  const { data, errors } = parseArguments(settlementSchema, given)
  if (!data) throw refused('', errors)
  const { route, outcome, messageId = null } = data
  const definition = integrations.find(({ name }) => name === route)
  const subject = subjects.call(route, deliveryId)
  const record = definition && (await store.read(subject, deliveryId))
  if (!record) return undefined
  const { fence, progress, response } = record
  const state = stateOf(record)
  if (state === 'in_progress') throw inProgress(1)
  if (state !== 'outcome_unknown') throw refused(`is not unknown: the delivery is ${state}`)
  const steps = handlerSteps(progress).map(([name]) => name)
  const doesMore = Object.values(definition.functions).some((each) => each.effectful && !each.settled)
  if (outcome === 'sent' && doesMore) throw refused(`must be not_sent: /${route} does more than to send`)
  if (outcome === 'sent' && steps.length > 0 && response?.status !== 200)
    throw refused('must be not_sent: nobody knows how much of it began')
  const settled = { outcome, messageId, at: new Date().toISOString(), steps }
  const isReopened = await store.reopen(subject, fence, (response) => ({
    [reservedSteps.intent]: null,
    [reservedSteps.settled]: { ...settled, answer: response?.status === 200 ? response.body : null },
  }))
  if (!isReopened) throw inProgress(1)
  return { route, outcome }
}

function refused(message: string, errors: FieldError[] = [{ path: 'outcome', message }]): IntegrationError {
  return new IntegrationError('invalid_arguments', `It can’t be settled: ${summarise(errors)}.`, { errors })
}
