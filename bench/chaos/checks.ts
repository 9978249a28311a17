import { addressOf, type Delivery } from './events.ts'
import { isRecord, type Received } from './sender.ts'
import type { World } from './world.ts'

/** The report of a case: anything in `violations` fails the run. */
export interface Findings {
  figures: Record<string, number | string>
  violations: string[]
}

/** Adds to a figure. */
export function count({ figures }: Findings, name: string, by = 1): void {
  figures[name] = Number(figures[name] ?? 0) + by
}

/** A list of the violation, or of none. */
export const unless = (holds: boolean, violation: string): string[] => (holds ? [] : [violation])

/** The number of mails that were sent for an id. */
export const timesSent = ({ journal }: Pick<World, 'journal'>, id: string) =>
  journal.timesSent.get(addressOf(id)) ?? 0

export const sentTwice = ({ journal }: World): string[] =>
  [...journal.timesSent].flatMap(([address, times]) => (times > 1 ? [`${address} got ${times} mails`] : []))

/** Compares each message of a response with the mails that the provider accepted. */
export function checkMessages(world: World, id: string, { result }: Received['body']) {
  if (!isRecord(result)) return []
  const results = Array.isArray(result.results) ? result.results : [{ status: 'sent' }]
  return results.map(({ index, status }: { index?: number; status: unknown }) => {
    const sent = timesSent(world, index === undefined ? id : `${id}.${index}`)
    const isTrue = status === 'sent' ? sent === 1 : status === 'unknown' ? sent <= 1 : sent === 0
    const violation = isTrue ? undefined : `message ${index ?? id} is ${status}, and was sent ${sent} times`
    return { index, status, sent, violation }
  })
}

/** Whether a deployment has exactly the one application that the host published. */
export function checkPublished({ idp, platform, journal }: World, deployment: string): string[] {
  const published = platform.deployments.get(deployment)?.outputs.applicationId
  const different = journal.outputs.get(deployment)?.size ?? 0
  return [
    ...unless(
      idp.applications.has(`${published}`),
      `${deployment}: the published application does not exist`,
    ),
    ...unless(different === 1, `${deployment}: ${different} different outputs were published`),
  ]
}

/** Checks the last response to each event of a load, and all its effects. */
export function checkLoad(
  world: World,
  found: Findings,
  ended: readonly { delivery: Delivery; response: Received }[],
): void {
  const { idp, platform } = world
  for (const { delivery, response } of ended) {
    const { id, route } = delivery
    count(found, 'events')
    if (response.body.code === 'outcome_unknown') count(found, 'outcome_unknown')
    else if (response.status !== 200) found.violations.push(`${id}, ${stateOf(response)}: ${quote(response)}`)
    else if (route === 'idp-server') found.violations.push(...checkPublished(world, id))
    else if (route === 'mailer')
      for (const { violation } of checkMessages(world, id, response.body))
        if (violation) found.violations.push(`${id}: ${violation}`)
  }
  const surplus = idp.applications.size - platform.deployments.size
  found.violations.push(
    ...sentTwice(world),
    ...unless(surplus === 0, `${surplus} applications more than deployments`),
  )
}

export function tally<Item>(items: Iterable<Item>, keyOf: (item: Item) => string | number): string {
  const groups = Map.groupBy(items, keyOf)
  return [...groups].map(([key, { length }]) => `${key}: ${length}`).join(', ')
}

/** A host on a busy machine may refuse an event, or not answer, as long as the sender tries: nothing is lost by that. */
const stateOf = ({ status, body }: Received) =>
  status === 0 || body.retryable ? 'busy to the end' : 'refused for good'

/** A response, as violations quote it. */
export const quote = ({ status, body }: Pick<Received, 'status' | 'body'>) =>
  `${status} ${JSON.stringify(body)}`
