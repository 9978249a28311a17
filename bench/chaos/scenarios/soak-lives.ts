import { checkMessages, checkPublished } from '../checks.ts'
import { pause } from '../clock.ts'
import { challenge, created, type Delivery, deleted, health, sendEmail, sendEmails } from '../events.ts'
import type { Random } from '../random.ts'
import type { World } from '../run.ts'
import { isRecord, type Received } from '../sender.ts'

/** The last response to a mail, a batch, a deployment or a question. */
export interface Life {
  id: string
  deployment?: string
  isDeleted?: boolean
  response: Received
}

const PEOPLE = 20
/** A platform retries for days; every event must be answered in this time once all is calm. */
const PATIENCE_MS = 15 * 60_000

export async function live(world: World, number: number, random: Random): Promise<Life> {
  const id = `life_${number}`
  const kind = random.below(20)
  const deliverOnly = async (delivery: Delivery) => ({ id, response: await deliver(world, delivery, random) })
  if (kind < 3) return deliverOnly(challenge(id))
  if (kind < 5) return deliverOnly(health(id))
  if (kind < 14) return deliverOnly(sendEmail(id))
  if (kind < 15) return deliverOnly(sendEmails(id, PEOPLE))

  world.platform.addDeployment({ id })
  const creation = deliver(world, created(id, id), random)
  // Some deployments are deleted during their creation, some at once, some later, a few not at all.
  const fate = random.below(4)
  if (fate > 0) await creation
  if (fate === 2) await deliver(world, created(id, id, `${id}_again`), random)
  // Few deployments stay, because every creation searches the list of all.
  if (fate === 3 && random.below(10) === 0) return { id, deployment: id, response: await creation }
  await pause(random.below(fate === 3 ? 10_000 : 300))
  const deletion = await deliver(world, deleted(id), random)
  await creation
  return { id, deployment: id, isDeleted: true, response: deletion }
}

/** Delivers until the response is final; some events once more at the same time, or afterwards. */
async function deliver({ sender }: World, delivery: Delivery, random: Random): Promise<Received> {
  const again = random.below(5) === 0 ? sender.once(delivery) : undefined
  const response = await sender
    .untilFinal(delivery, PATIENCE_MS)
    .catch(({ message }: Error) => ({ status: 0, body: { message }, replayed: false, retryAfter: 0 }))
  await again
  if (random.below(10) === 0) await sender.once(delivery)
  return response
}

/** The number of messages of a batch that its response calls unknown. */
export function unknownOf({ response: { body } }: Life): number {
  return isRecord(body.result) ? Number(body.result.unknown ?? 0) : 0
}

export function checkLife(world: World, { id, deployment, isDeleted, response }: Life): string[] {
  const { status, body } = response
  if (status === 409 && body.code === 'outcome_unknown' && !deployment) return []
  const violations = status === 200 ? [] : [`${id}: ${status} ${JSON.stringify(body)}`]
  if (deployment && !isDeleted) violations.push(...checkPublished(world, deployment))
  if (deployment && isDeleted && body.status !== 'stopped')
    violations.push(`${id}: its deletion got ${JSON.stringify(body)}`)
  for (const { violation } of checkMessages(world, id, body))
    if (violation) violations.push(`${id}: ${violation}`)
  return violations
}
