import type { Arrangement } from './run.ts'

/** How often each address was sent to. */
export function timesSent({ journal }: Pick<Arrangement, 'journal'>): Map<string, number> {
  const times = new Map<string, number>()
  for (const { to } of journal.of('mail accepted')) {
    for (const address of to.split(',')) times.set(address, (times.get(address) ?? 0) + 1)
  }
  return times
}

/** The addresses that were sent to more than once, as violations. */
export function sentTwice(arrangement: Pick<Arrangement, 'journal'>): string[] {
  return [...timesSent(arrangement)].flatMap(([address, times]) =>
    times > 1 ? [`${address} got ${times} mails`] : [],
  )
}

/** Whether a deployment has exactly the one application that it published. */
export function checkPublished({ idp, platform, journal }: Arrangement, deployment: string): string[] {
  const published = platform.deployments.get(deployment)?.outputs.applicationId
  const sets = new Set(
    journal
      .of('callback')
      .filter((callback) => callback.deployment === deployment && callback.what === 'outputs')
      .map(({ body }) => JSON.stringify(body)),
  )
  const faults = []
  if (typeof published !== 'string' || !idp.applications.has(published))
    faults.push(`${deployment}: what it published does not exist`)
  if (sets.size !== 1) faults.push(`${deployment}: ${sets.size} different sets of outputs were published`)
  return faults
}

/** Counts by a key. */
export function tally<Item>(items: Iterable<Item>, keyOf: (item: Item) => string | number): string {
  const counts = new Map<string | number, number>()
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1)
  return [...counts].map(([key, count]) => `${key}: ${count}`).join(', ')
}
