/** The host’s own OpenAPI document: what the host accepts fits it, and so does every response. */
import { type DeliveryStore, memoryStore } from '@org/core'
import type { OpenApiDocument } from '@org/core/hosting'
import type { DeliverOptions, DeliveryResponse } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { routes, validEvents } from './corpus.ts'
import { calling, credentials, mail, mailDeployment, type StartOptions, startHost } from './hosted.ts'

/** Headers that the document need not describe. */
const undescribed =
  /^(content-|etag$|cross-origin-|x-|origin-agent-cluster$|cache-control$|referrer-policy$|vary$)/
const OPERATOR_TOKEN = credentials.operatorToken
const describing = startHost({ createMetrics, variables: { OPERATOR_TOKEN } })
const document: OpenApiDocument = await (await describing.get('/openapi.json')).json()
const validate = createValidator(document)
// The document lets a response have more fields, for later hosts. This host has no others.
const closed = JSON.parse(JSON.stringify(document), (_, value) =>
  value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
)
const validateExactly = createValidator(closed)
/** The successful events and functions, such as `/mailer/webhook sendEmail`. */
const seen = new Set<string>()

/** The differences between a response and the document. */
function faultsOf(
  path: string,
  method: 'get' | 'post',
  { status, headers, body }: DeliveryResponse,
): string[] {
  const responses = document.paths[path]?.[method]?.responses ?? {}
  const key = status in responses ? `${status}` : `${`${status}`.charAt(0)}XX`
  const response = responses[key]
  if (!response) return ['The document has no such status.']
  const isShared = '$ref' in response
  const escaped = path.replaceAll('/', '~1')
  const place = isShared ? response.$ref : `#/paths/${escaped}/${method}/responses/${key}`
  const { content = {}, headers: declared = {} } = isShared ? document.components.responses.Problem : response
  const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
  if (!(mediaType in content)) return [`The document has no ${mediaType}.`]
  const references = new Map(Object.entries(declared).map(([name, { $ref }]) => [name.toLowerCase(), $ref]))
  const ofHeaders = [...headers].flatMap(([name, value]) => {
    if (undescribed.test(name)) return []
    const header = references.get(name)
    if (!header) return [`The document has no header ${name}.`]
    return validate(`${header}/schema`, /^\d+$/.test(value) ? Number(value) : value)
  })
  return [...validateExactly(`${place}/content/${mediaType.replace('/', '~1')}/schema`, body), ...ofHeaders]
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
function start({ variables, ...options }: StartOptions = {}) {
  const host = startHost({ createMetrics, variables: { OPERATOR_TOKEN, ...variables }, ...options })
  return {
    world: host.world,
    async send(route: string, event: unknown, delivery: DeliverOptions = {}): Promise<DeliveryResponse> {
      const path = `/${route}/webhook`
      const response = await host.send(route, event, delivery)
      const faults = faultsOf(path, 'post', response)
      if (response.status === 200) faults.push(...faultsOfSuccess(path, event, response.body))
      if (faults.length > 0) expect.fail(`${faults.join(' ')} ${JSON.stringify([event, response.body])}`)
      return response
    },
    /** Asks any other operation about the delivery `evt_lost`, as an operator. */
    async ask(path: string, init: RequestInit = {}) {
      const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` }
      const url = `http://host.test${path.replace('{id}', 'evt_lost')}`
      const response = await host.host.fetch(new Request(url, { headers, ...init }))
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '')
      const { status, headers: received } = response
      const read = { status, headers: received, body: await (isJson ? response.json() : response.text()) }
      expect(faultsOf(path, init.method ? 'post' : 'get', read), JSON.stringify(read)).toEqual([])
      return read
    },
  }
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
    const paths = Object.entries(document.paths)
    const reading = paths.flatMap(([path, { get }]) => (get ? [path] : []))
    expect([reading.length, paths.filter(([, { post }]) => post).length]).toEqual([7, routes.length + 1])
    for (const path of reading) expect((await ask(path)).status, path).toBe(200)
    const body = JSON.stringify({ route: 'mailer', outcome: 'not_sent' })
    expect((await ask('/deliveries/{id}/settle', { method: 'POST', body })).status).toBe(200)
  })
})

/** Asks for a longer wait than any event has time for, so nothing is retried. */
const fault = (status: number) => ({ status, headers: { 'retry-after': '600' } })
const away = () => Promise.reject(new Error('The store is away.'))
const onStore = (store: object): StartOptions => ({ store: { ...memoryStore(), ...store } })
const created = { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_1') }
const statistics = calling('getDeliveryStats')

describe('a response of the host fits the document', () => {
  it.each<[number, code: string, event: object, refusal?: number, claim?: DeliveryStore['claim']]>([
    [422, 'credentials_rejected', statistics, 401],
    [429, 'provider_rate_limited', statistics, 429],
    [500, 'internal_error', created, 0, async () => JSON.parse('null')],
    [503, 'overloaded', created, 0, away],
  ])('with the problem %i %s', async (status, code, event, refusal, claim) => {
    const { world, send } = start(claim && onStore({ claim }))
    if (refusal) world.mail.faults.add(fault(refusal))
    expect(await send('mailer', event)).toMatchObject({ status, body: { code } })
  })

  it('while a server or the store is away', async () => {
    const { world, send, ask } = start(onStore({ probe: away }))
    world.mail.faults.add(fault(503))
    const health = { ...created, name: 'HEALTH_CHECK' }
    expect(await send('mailer', health)).toMatchObject({ body: { status: 'unhealthy' } })
    world.platform.faults.add({ ...fault(503), times: 9 })
    expect(await send('mailer', created)).toMatchObject({ status: 502 })
    for (const [path, status] of Object.entries({ '/deliveries/{id}': 404, '/readyz': 503 }))
      expect(await ask(path)).toMatchObject({ status })
  })

  it('after a redelivery, without sensitive outputs, and after the end of the deployment', async () => {
    const { world, send } = start()
    world.platform.addDeployment({ id: 'dep_1' })
    expect(await send('mailer', created, { id: 'evt_1' })).toHaveProperty('body.outputs.apiToken')
    const again = await send('mailer', created, { id: 'evt_1' })
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again).not.toHaveProperty('body.outputs.apiToken')
    await send('mailer', { ...created, name: 'DEPLOYMENT_DELETED' })
    expect((await send('mailer', created)).body).toMatchObject({ status: 'ignored' })
  })
})

type Event = Record<string, unknown>

/** The part that only this event has. */
const ownParts = new Map<unknown, string>([
  ['DEPLOYMENT_CREATED', 'deployment'],
  ['FUNCTION_CALL', 'functionCall'],
  ['DOWNLOAD_STARTED', 'download'],
])

/** The variations of an event with one changed value in a part that no other event has. */
function variationsOf(route: string, valid: Event): { event: Event; change: string }[] {
  const part = ownParts.get(valid.name)
  // One route is enough for the parts and functions that several routes share.
  if (part === undefined && route !== 'mailer') return []
  if (route === 'auth' || (route === 'idp-server' && part === 'functionCall')) return []
  const places = placesOf(valid).filter((place) => place[1] !== 'outputs' && (!part || place[0] === part))
  return places.flatMap((place) =>
    // `undefined` removes the value.
    [undefined, null, 'nonsense', -1.5, ['a']].map((value) => {
      const event = structuredClone(valid)
      const container = place.slice(0, -1).reduce<unknown>((at, key) => Reflect.get(Object(at), key), event)
      Reflect.set(Object(container), place.at(-1) ?? '', value)
      return {
        event: JSON.parse(JSON.stringify(event)),
        change: `${place.join('.')}: ${JSON.stringify(value)}`,
      }
    }),
  )
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}

/** Formats of addresses, keys and ids, and fields that need another one, are beyond JSON Schema. */
const beyondSchemas =
  /expected one address|is not (a publishable|a secret) key|is not the id|is missing:|is required(, or| with| where|:|")|goes with|at least one recipient|goes into each/

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
        if (isAccepted === (byDocument.length === 0)) continue
        // The host takes a blank input as absent, and validates each message of a batch alone: an invalid one fails in the
        // result.
        const isBlank = /^deployment\.inputs\.\w+: null$/.test(change)
        const isInBatch =
          change.startsWith('functionCall.arguments.messages') && Object(body).result?.failed > 0
        if (isAccepted ? !isBlank && !isInBatch : !beyondSchemas.test(byHost))
          differences.push(`${route} ${event.name} ${change} ${byHost || byDocument}`)
      }
    expect(differences).toEqual([])
    expect(judged).toBeGreaterThan(1_000)
  })
})
