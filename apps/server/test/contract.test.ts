/** The host’s own OpenAPI document: what the host accepts fits it, and so does every response. */
import { memoryStore } from '@org/core'
import type { OpenApiDocument } from '@org/core/hosting'
import type { DeliverOptions } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { routes, validEvents } from './corpus.ts'
import { calling, credentials, mail, mailDeployment, type StartOptions, startHost } from './hosted.ts'

interface HostResponse {
  status: number
  headers: Headers
  body: unknown
}

/** Headers that the document need not describe. */
const undescribed =
  /^(content-|etag$|cross-origin-|x-|origin-agent-cluster$|cache-control$|referrer-policy$|vary$)/
const variables = { OPERATOR_TOKEN: credentials.operatorToken }
const document: OpenApiDocument = await (
  await startHost({ createMetrics, variables }).get('/openapi.json')
).json()
const validate = createValidator(document)
// The document lets a response have more fields, for later hosts. This host has no others.
const schemas = JSON.parse(JSON.stringify(document.components.schemas), (_, value) =>
  value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
)
const validateExactly = createValidator({ ...document, components: { ...document.components, schemas } })
/** The successful events and functions, such as `/mailer/webhook sendEmail`. */
const seen = new Set<string>()

/** A place in a document. */
const placeOf = (...keys: string[]) =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The differences between a response and the document. */
function faultsOf(path: string, method: 'get' | 'post', { status, headers, body }: HostResponse): string[] {
  const responses = document.paths[path]?.[method]?.responses ?? {}
  const key = status in responses ? `${status}` : `${`${status}`.charAt(0)}XX`
  const response = responses[key]
  if (!response) return ['The document has no such status.']
  const isShared = '$ref' in response
  const place = isShared ? response.$ref : `#${placeOf('paths', path, method, 'responses', key)}`
  const shared = isShared ? document.components.responses.Problem : response
  const { content = {}, headers: declared = {} } = shared ?? {}
  const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
  if (!(mediaType in content)) return [`The document has no ${mediaType}.`]
  const places = new Map(Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), $ref]))
  return [
    ...validateExactly(place + placeOf('content', mediaType, 'schema'), body),
    ...[...headers].flatMap(([name, value]) => {
      if (undescribed.test(name)) return []
      const header = places.get(name)
      if (!header) return [`The document has no header ${name}.`]
      return validate(`${header}/schema`, /^\d+$/.test(value) ? Number(value) : value)
    }),
  ]
}

/** The differences between a success and every response to the event. */
function faultsOfSuccess(path: string, event: unknown, body: unknown): string[] {
  const { name, functionCall } = Object(event)
  const responses = document.paths[path]?.post?.['x-responses'] ?? {}
  const sent = functionCall?.name in responses ? functionCall.name : name
  seen.add(`${path} ${sent}`)
  const faults = (responses[sent] ?? []).map(({ $ref }) => validateExactly($ref, body))
  return faults.some((each) => each.length === 0) ? [] : ['It is no response to the event.', ...faults.flat()]
}

/** Starts a host whose responses are all compared with the document. */
function start({ variables: more, ...options }: StartOptions = {}) {
  const { world, host, ...started } = startHost({
    createMetrics,
    variables: { ...variables, ...more },
    ...options,
  })
  async function send(route: string, event: unknown, delivery: DeliverOptions = {}): Promise<HostResponse> {
    const path = `/${route}/webhook`
    const response = await started.send(route, event, delivery)
    const faults = faultsOf(path, 'post', response)
    if (response.status === 200) faults.push(...faultsOfSuccess(path, event, response.body))
    if (faults.length > 0) expect.fail(`${faults.join(' ')} ${JSON.stringify([event, response.body])}`)
    return response
  }
  /** Asks any operation, as an operator. */
  async function ask(path: string, { id = 'evt', ...init }: RequestInit & { id?: string } = {}) {
    const url = `http://host.test${path.replace('{id}', id)}`
    const authorization = `Bearer ${variables.OPERATOR_TOKEN}`
    const response = await host.fetch(new Request(url, { headers: { authorization }, ...init }))
    const { status, headers } = response
    const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '')
    const read = { status, headers, body: await (isJson ? response.json() : response.text()) }
    expect(faultsOf(path, init.method ? 'post' : 'get', read), JSON.stringify(read)).toEqual([])
    return read
  }
  return { world, send, ask }
}

describe('the OpenAPI document of the host', () => {
  it('passes a strict linter', async () => {
    const excused = { 'operation-4xx-response': 'A GET route without parameters has no invalid request.' }
    expect(await lint(document, excused)).toEqual([])
  })

  it('has every route that is read, and the one that settles a delivery', async () => {
    const { world, send, ask } = start()
    world.mail.faults.add({ cut: 'after' })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_lost' })
    const [reading = [], posting] = ['get', 'post'].map((method) =>
      Object.keys(document.paths).filter((path) => method in Object(document.paths[path])),
    )
    expect([reading.length, posting?.length]).toEqual([7, routes.length + 1])
    for (const path of reading) expect((await ask(path, { id: 'evt_lost' })).status, path).toBe(200)
    const body = JSON.stringify({ route: 'mailer', outcome: 'not_sent' })
    const settled = await ask('/deliveries/{id}/settle', { id: 'evt_lost', method: 'POST', body })
    expect(settled).toMatchObject({ status: 200 })
  })
})

/** Asks for a longer wait than any event has time for, so nothing is retried. */
const fault = (status: number) => ({ status, headers: { 'retry-after': '600' } })
const away = () => Promise.reject(new Error('The store is away.'))
const onStore = (store: object): StartOptions => ({ store: { ...memoryStore(), ...store } })
const busy = async () => ({ state: 'busy', retryAfterMs: 1_000 })
const created = { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') }
const statistics = calling('getDeliveryStats')
const long = calling('sendEmail', { ...mail, textBody: 'x'.repeat(1024) })
const signed = { variables: { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret } }

describe('a response of the host fits the document', () => {
  it.each<[number, code: string, event: object, host?: StartOptions, refusal?: number]>([
    [400, 'invalid_event', { name: 'NONSENSE' }],
    [401, 'invalid_signature', statistics, signed],
    [409, 'delivery_in_progress', created, onStore({ claim: busy })],
    [413, 'body_too_large', long, { variables: { BODY_LIMIT: '1024' } }],
    [422, 'invalid_arguments', calling('sendEmail', { ...mail, subjekt: 'Hi' })],
    [422, 'credentials_rejected', statistics, {}, 401],
    [429, 'provider_rate_limited', statistics, {}, 429],
    [500, 'internal_error', created, onStore({ claim: async () => JSON.parse('null') })],
    [503, 'overloaded', created, onStore({ claim: away })],
    [504, 'provider_timeout', statistics, {}, 408],
  ])('with the problem %i %s', async (status, code, event, options, refusal) => {
    const { world, send } = start(options)
    if (refusal) world.mail.faults.add(fault(refusal))
    expect(await send('mailer', event)).toMatchObject({ status, body: { code } })
  })

  it('while a server or the store is away, and to an operator', async () => {
    const { world, send, ask } = start()
    world.mail.faults.add(fault(503))
    const health = { ...created, name: 'HEALTH_CHECK' }
    expect(await send('mailer', health)).toMatchObject({ body: { status: 'unhealthy' } })
    world.platform.faults.add({ ...fault(503), times: 9 })
    expect(await send('mailer', created)).toMatchObject({ status: 502 })
    expect(await ask('/deliveries/{id}')).toMatchObject({ status: 404 })
    expect(await start(onStore({ probe: away })).ask('/readyz')).toMatchObject({ status: 503 })
  })

  it('after a redelivery, without sensitive outputs, and after the end of the deployment', async () => {
    const { world, send } = start()
    world.platform.addDeployment({ id: 'dep_1' })
    const sendIt = () => send('mailer', created, { id: 'evt_1' })
    const [first, second] = [await sendIt(), await sendIt()]
    expect(first.body).toHaveProperty('outputs.apiToken')
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).not.toHaveProperty('outputs.apiToken')
    await send('mailer', { ...created, name: 'DEPLOYMENT_DELETED' })
    expect((await send('mailer', created)).body).toMatchObject({ status: 'ignored' })
  })
})

type Event = Record<string, unknown>

/** The part that only this event has. */
const ownParts: Record<string, string> = {
  DEPLOYMENT_CREATED: 'deployment',
  FUNCTION_CALL: 'functionCall',
  DOWNLOAD_STARTED: 'download',
}

/** The variations of an event with one changed value in a part that no other event has. */
function* variationsOf(route: string, valid: Event) {
  const part = ownParts[String(valid.name)]
  // One route is enough for the parts and functions that several routes share.
  if (part === undefined && route !== 'mailer') return
  if (route === 'auth' || (route === 'idp-server' && part === 'functionCall')) return
  for (const place of placesOf(valid)) {
    if (place[1] === 'outputs' || (part !== undefined && place[0] !== part)) continue
    // `undefined` removes the value.
    for (const value of [undefined, null, 'nonsense', -1.5, ['a']]) {
      const event = structuredClone(valid)
      const container = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), event)
      Reflect.set(Object(container), place.at(-1) ?? '', value)
      const change = `${place.join('.')}: ${JSON.stringify(value)}`
      yield { event: JSON.parse(JSON.stringify(event)), change }
    }
  }
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}

describe('an event', () => {
  const { world, send } = start({ environment: { TENANT_MAIL_TOKEN: credentials.tenantMailToken } })
  const given = validEvents.map(({ route, event }) => {
    const { outputs: _, ...created } = event.deployment
    const deployment = event.name === 'DEPLOYMENT_CREATED' ? created : event.deployment
    const valid: Event = JSON.parse(JSON.stringify({ ...event, deployment }))
    return { route, valid }
  })
  let judged = 0

  /** Lets the host and the document judge an event with a delivery and a deployment of its own. */
  async function judge(route: string, given: Event) {
    const event = structuredClone(given)
    judged += 1
    const id = `dep_${judged}`
    if (event.id === 'evt_1') event.id = `evt_${judged}`
    if (Object(event.deployment).id === 'dep_1') event.deployment = { ...Object(event.deployment), id }
    world.platform.addDeployment({ id })
    const { status, body } = await send(route, event)
    const { code, errors, detail } = Object(body)
    const isInvalid = /^(invalid_(event|inputs|arguments)|missing_credentials|unknown_function)$/.test(code)
    const schema = `${route.replaceAll(/(?:^|-)(\w)/g, (_, first) => first.toUpperCase())}Event`
    return {
      status,
      body,
      byHost: isInvalid ? `${code} ${JSON.stringify(errors ?? detail)}` : '',
      byDocument: validate(`#/components/schemas/${schema}`, event),
    }
  }

  it('of every kind, and a call of every function, succeeds and fits', async () => {
    for (const { route, valid } of given) {
      const success = { status: 200, byDocument: [] }
      expect(await judge(route, valid), JSON.stringify(valid)).toMatchObject(success)
    }
    const described = Object.entries(document.paths).flatMap(([path, { post }]) =>
      Object.keys(post?.['x-responses'] ?? {}).map((name) => `${path} ${name}`),
    )
    expect([...seen].toSorted()).toEqual(described.toSorted())
  })

  it('with a changed value is accepted by the host if the document accepts it, and only then, with exceptions', async () => {
    const differences: string[] = []
    for (const { route, valid } of given)
      for (const { event, change } of variationsOf(route, valid)) {
        const { body, byHost, byDocument } = await judge(route, event)
        const isAccepted = byHost === ''
        // The host validates each message of a batch alone: an invalid one fails in the result.
        const isPartOfBatch = change.startsWith('functionCall.arguments.messages')
        // The host takes a blank input as absent.
        const isBlank = /^deployment\.inputs\.\w+: null$/.test(change)
        const isExplained = isAccepted
          ? isBlank || (isPartOfBatch && Object(body).result?.failed > 0)
          : // Formats of addresses, keys and ids, and fields that need another one, are beyond JSON Schema.
            /expected one address|is not (a publishable|a secret) key|is not the id/.test(byHost) ||
            /is missing:|is required(, or| with| where|:|")|goes with|at least one recipient|goes into each/.test(
              byHost,
            )
        if (isAccepted !== (byDocument.length === 0) && !isExplained)
          differences.push(`${route} ${event.name} ${change} ${byHost || byDocument}`)
      }
    expect(differences).toEqual([])
    expect(judged).toBeGreaterThan(1_000)
  })
})
