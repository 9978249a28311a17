import { addressOf } from './events.ts'
import type { World } from './run.ts'
import { isRecord, type Received } from './sender.ts'

type Watched = Pick<World, 'journal'>

/** The number of mails that were sent for an id. */
export const timesSent = ({ journal }: Watched, id: string) => journal.timesSent.get(addressOf(id)) ?? 0

export const sentTwice = ({ journal }: Watched): string[] =>
  [...journal.timesSent].flatMap(([address, times]) => (times > 1 ? [`${address} got ${times} mails`] : []))

/** Compares each message of a response with the mails that the provider accepted. */
export function checkMessages(world: Watched, id: string, { result }: Received['body']) {
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
  const violations = []
  if (typeof published !== 'string' || !idp.applications.has(published))
    violations.push(`${deployment}: the published application does not exist`)
  const different = journal.outputs.get(deployment)?.size ?? 0
  if (different !== 1) violations.push(`${deployment}: ${different} different outputs were published`)
  return violations
}

export function tally<Item>(items: Iterable<Item>, keyOf: (item: Item) => string | number): string {
  const groups = Map.groupBy(items, keyOf)
  return [...groups].map(([key, { length }]) => `${key}: ${length}`).join(', ')
}

/** A response, as violations quote it. */
export const quote = ({ status, body }: Pick<Received, 'status' | 'body'>) =>
  `${status} ${JSON.stringify(body)}`
