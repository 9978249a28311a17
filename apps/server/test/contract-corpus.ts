/**
 * Each valid event, and its variations with one changed value.
 */
import { fitting } from './fuzzing.ts'

/** An event, and the route that it is sent to. */
export interface Sample {
  route: string
  event: Record<string, unknown>
  /** The changed value; absent if the event is valid. */
  change?: { path: string; value: unknown }
}

/** The replacements of a value; `undefined` removes it. */
const others: readonly unknown[] = [undefined, null, '  ', 'nonsense', -1.5, ['a'], { a: 1 }]

/** The part that only this event has. */
const ownPart: Record<string, string> = {
  DEPLOYMENT_CREATED: 'deployment',
  FUNCTION_CALL: 'functionCall',
  DOWNLOAD_STARTED: 'download',
}

/** One valid event for each event and each function name of each route. */
export const samples: readonly Sample[] = fitting.flatMap(({ route, event }) => {
  const isCall = event.name === 'FUNCTION_CALL'
  // A call by the shared credentials, and any other event with the inputs of a deployment. Both of the identity
  // provider’s routes have the same functions.
  if (event.deployment?.id !== (isCall ? undefined : 'dep_2') || (isCall && route === 'idp-server')) return []
  const part = ownPart[event.name]
  const { name, deployment } = event
  const own = part === undefined ? event : { name, deployment, [part]: Reflect.get(event, part) }
  return [{ route, event: JSON.parse(JSON.stringify({ ...own, id: 'evt' })) }]
})

/** A sample, and its variations with one changed value. */
export function* variationsOf(sample: Sample): Generator<Sample> {
  const part = ownPart[String(sample.event.name)]
  yield structuredClone(sample)
  // Parts that all routes share are varied on one.
  if (part === undefined && sample.route !== 'mailer') return
  for (const place of placesOf(sample.event)) {
    if (part !== undefined && place[0] !== part) continue
    for (const value of others) {
      const event = structuredClone(sample.event)
      const container = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), event)
      Reflect.set(Object(container), place.at(-1) ?? '', value)
      const change = { path: place.join('.'), value }
      yield { route: sample.route, event: JSON.parse(JSON.stringify(event)), change }
    }
  }
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}
