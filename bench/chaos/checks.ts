import { addressOf } from './events.ts'
import type { World } from './run.ts'
import { isRecord, type Received } from './sender.ts'

/** The addresses that got more than one mail, as violations. */
export function sentTwice({ journal }: Pick<World, 'journal'>): string[] {
  return [...journal.timesSent].flatMap(([address, times]) =>
    times > 1 ? [`${address} got ${times} mails`] : [],
  )
}

/** A message of a response, with the number of times that it was sent. */
export interface CheckedMessage {
  index: number | undefined
  status: unknown
  sent: number
  violation: string | undefined
}

/** Compares what a response says of each mail with the mails that the provider accepted. */
export function checkMessages(
  { journal }: World,
  id: string,
  { result }: Received['body'],
): CheckedMessage[] {
  if (!isRecord(result)) return []
  const results = Array.isArray(result.results) ? result.results : [{ status: 'sent' }]
  return results.map(({ index, status }) => {
    const sent = journal.timesSent.get(addressOf(index === undefined ? id : `${id}.${index}`)) ?? 0
    const isTrue = status === 'sent' ? sent === 1 : status === 'unknown' ? sent <= 1 : sent === 0
    const violation = isTrue ? undefined : `message ${index ?? id} is ${status}, and was sent ${sent} times`
    return { index, status, sent, violation }
  })
}

/** Whether a deployment has exactly the one application that the host published. */
export function checkPublished({ idp, platform, journal }: World, deployment: string): string[] {
  const published = platform.deployments.get(deployment)?.outputs.applicationId
  const outputs = journal
    .of('callback')
    .filter((callback) => callback.deployment === deployment && callback.what === 'outputs')
    .map(({ body }) => JSON.stringify(body))
  const violations = []
  if (typeof published !== 'string' || !idp.applications.has(published))
    violations.push(`${deployment}: the published application does not exist`)
  const different = new Set(outputs).size
  if (different !== 1) violations.push(`${deployment}: ${different} different outputs were published`)
  return violations
}

/** Counts items by a key. */
export function tally<Item>(items: Iterable<Item>, keyOf: (item: Item) => string | number): string {
  const counts = new Map<string | number, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts].map(([key, count]) => `${key}: ${count}`).join(', ')
}

/** The key of a response, for `tally`. */
export const statusAndCode = ({ status, code }: { status: number; code: string | undefined }) =>
  code ? `${status} ${code}` : status
