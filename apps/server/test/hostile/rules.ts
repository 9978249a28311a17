/** Hostile requests, and the rules for every response. `main.ts` sends them. */
import { sign } from '@org/core'
import { problemSchema } from '@org/core/hosting'
import * as fc from 'fast-check'
import { routes, validEvents } from '../corpus.ts'
import { credentials, type Sent, startHost } from '../hosted.ts'

/** Mostly the first one, now and then the second one. */
const mostly = <Usual, Rare>(weight: number, arbitrary: fc.Arbitrary<Usual>, rare: fc.Arbitrary<Rare>) =>
  fc.oneof({ weight, arbitrary }, { weight: 1, arbitrary: rare })

const hostileWords = [
  ...['a\r\nBcc: evil@example.com', 'a\nb', 'a@b.c\r\nX: y', '\u0000', '\u2028', '\ud800'],
  ...['..', '../../users', '%2e%2e%2f', '', ' ', 'x'.repeat(5_000)],
  ...['__proto__', 'constructor', 'toString', 'valueOf'],
  ...['nonsense', 'http://169.254.169.254/', 'https://user:pass@example.com', 'file:///etc/passwd'],
  ...['{{env.PATH}}', '{{env.PLATFORM_API_TOKEN}}', '{{'.repeat(500)],
]
const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
const hostileText = mostly(4, fc.constantFrom(...hostileWords), anyText)
const oddNumber = fc.constantFrom(-0, 1e308, Number.MAX_SAFE_INTEGER)
const anyValue = fc.oneof(fc.jsonValue({ maxDepth: 4 }), hostileText, oddNumber)

/** Each valid event with a whole deployment, with its inputs alone, with its id alone, and without one. */
export const events = validEvents.flatMap(({ route, event }) => {
  const { inputs } = event.deployment
  const deployments = [event.deployment, { id: 'dep_2', inputs }, { id: 'dep_3' }, undefined]
  return deployments.map((deployment) => ({ route, event: { ...event, deployment } }))
})

/** Each key of each object and list of a value. */
export function placesOf(container: object): { container: object; key: string }[] {
  return Object.entries(container).flatMap(([key, value]) => [
    { container, key },
    ...(typeof value === 'object' && value !== null ? placesOf(value) : []),
  ])
}

/** Another value at the n-th place of an event, or beside it. JSON leaves out `undefined`. */
const mutation = fc.record({
  place: fc.nat(),
  name: mostly(4, fc.constant(undefined), hostileText),
  value: fc.oneof(
    { weight: 3, arbitrary: hostileText },
    anyValue,
    fc.constant(undefined),
    hostileText.map((text) => Array(60).fill(text)),
  ),
})
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never

function mutate(event: object, { place, name, value }: Mutation): object {
  const mutated = structuredClone(event)
  const places = placesOf(mutated)
  const { container, key } = places[place % places.length] ?? { container: mutated, key: 'name' }
  // Not an assignment, which would set the prototype for “__proto__”. A list has no names, and its length no odd value.
  const property = { value, enumerable: true, configurable: true, writable: true }
  Reflect.defineProperty(container, Array.isArray(container) ? key : (name ?? key), property)
  return mutated
}

const pathOf = (route: string) => `/${route}/webhook`
const mutatedEvent = fc
  .tuple(fc.constantFrom(...events), fc.array(mutation, { maxLength: 3 }))
  .map(([{ route, event }, mutations]) => ({
    path: pathOf(route),
    body: JSON.stringify(mutations.reduce<object>(mutate, event)),
  }))

/** Any text or value, and a truncated event. */
const anyBody = fc.oneof(
  anyValue.map((value) => JSON.stringify(value) ?? ''),
  hostileText,
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Uint8Array.from(bytes)),
  fc.tuple(mutatedEvent, fc.nat({ max: 200 })).map(([{ body }, at]) => body.slice(0, at)),
)
const paths = ['/healthz', '/integrations', '/openapi.json', '/__proto__/webhook', ...routes.map(pathOf)]
const methods = ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
const anyHeaders = fc.dictionary(
  fc.constantFrom('content-type', 'content-encoding', 'origin', 'x-forwarded-for', ...signatureHeaders),
  fc.string({ unit: 'binary-ascii' }).map((value) => value.replaceAll(/[^\x20-\x7e]/g, '').trim()),
)

/** Mostly events with some faults, sometimes any request at all. */
const anyRequest = fc.record({
  target: mostly(
    6,
    mutatedEvent,
    fc.record({ path: mostly(6, fc.constantFrom(...paths), fc.webPath()), body: anyBody }),
  ),
  method: mostly(30, fc.constant('POST'), fc.constantFrom(...methods)),
  headers: mostly(10, fc.constant<Record<string, string>>({}), anyHeaders),
  signed: mostly(15, fc.constant(true), fc.constant(false)),
})
type FuzzedRequest = typeof anyRequest extends fc.Arbitrary<infer Value> ? Value : never

const countPrototypes = () =>
  [Object.prototype, Array.prototype, Function.prototype, String.prototype]
    .map((prototype) => Reflect.ownKeys(prototype).length)
    .join()

/**
 * Sends hostile requests to a new host between emulators.
 *
 * @returns the emulators
 * @throws with the smallest request whose response breaks a rule
 */
export async function fuzz(seed: number, numRuns: number) {
  const secret = credentials.webhookSecret
  const { world, host } = startHost({
    variables: { PLATFORM_WEBHOOK_SECRET: secret, BODY_LIMIT: '100000' },
    environment: { TENANT_MAIL_TOKEN: credentials.tenantMailToken, PATH: '/bin' },
  })
  for (const id of ['dep_1', 'dep_2', 'dep_3']) world.platform.addDeployment({ id })
  const before = countPrototypes()

  /** The rule that the response breaks, as a sentence. */
  async function findFault({ target: { path, body }, method, headers, signed }: FuzzedRequest) {
    const own = signed && (await sign({ secret, id: headers['webhook-id'] || crypto.randomUUID(), body }))
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const all = { 'content-type': 'application/json', ...headers, ...own }
    const init = { method, headers: all, ...(hasBody && { body }) }
    world.sent.length = 0
    const response = await host.fetch(new Request(`http://host.test${path}`, init))
    const text = await response.text()
    if (countPrototypes() !== before) return 'The request changed a prototype.'
    // A deployment whose id was replaced: its platform may know it later.
    if (response.status >= 500 && !text.includes('The platform does not know this deployment'))
      return `The status is ${response.status}: ${text}`
    const isReading = method !== 'POST' && !path.endsWith('/webhook')
    if (response.status >= 400 && method !== 'HEAD' && !isReading) {
      const problem = problemSchema.strict().safeParse(JSON.parse(text))
      if (problem.data?.status !== response.status) return `The failure is no problem: ${text}`
    }
    return world.sent.map(faultOf).find((fault) => fault !== undefined)
  }

  const property = fc.asyncProperty(anyRequest, async (request) => {
    const fault = await findFault(request)
    if (fault !== undefined) throw new Error(fault)
  })
  await fc.assert(property, { seed, numRuns })
  return world
}

/** A line break that the provider would read as a new header, or a request that leads elsewhere. */
function faultOf({ host, url, headers, text }: Sent): string | undefined {
  const isBroken = (line: unknown) => typeof line === 'string' && /[\r\n]/.test(line)
  if ([...headers.values()].some(isBroken)) return `A header holds a line break: ${url}`
  if (host === 'idp.test' && !new URL(url).pathname.startsWith('/v1/')) return `A call left its API: ${url}`
  if (host !== 'mail.test' || !new URL(url).pathname.startsWith('/email')) return undefined
  const broken = [JSON.parse(text)]
    .flat()
    .find(({ TextBody, HtmlBody, Headers = [], ...lines }) =>
      [...Object.values(lines), ...Headers.flatMap(Object.values)].some(isBroken),
    )
  return broken && `A line of a mail is broken: ${JSON.stringify(broken)}`
}
