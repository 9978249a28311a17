/** The host’s own OpenAPI document: what the host accepts fits it, and so does every response. */
import { type DeliveryStore, memoryStore } from '@org/core'
import type { OpenApiDocument } from '@org/core/internal'
import type { DeliverOptions } from '@org/core/testing'
import { lint } from '@org/openapi-checks/lint'
import { createValidator } from '@org/openapi-checks/validate'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../src/metrics.ts'
import { validEvents } from './corpus.ts'
import { calling, credentials, mail, mailDeployment, type StartOptions, startHost } from './hosted.ts'

interface HostResponse {
  status: number
  headers: Headers
  body: unknown
}

/** Headers that the document need not describe. */
const undescribed =
  /^(content-|etag$|cross-origin-|x-|origin-agent-cluster$|cache-control$|referrer-policy$|vary$)/
const operator = { authorization: `Bearer ${credentials.operatorToken}` }

/** A place in a document. */
const placeOf = (...keys: string[]) =>
  keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** Starts a host whose responses are all compared with its document. */
async function startContract({ variables, ...options }: StartOptions = {}) {
  const { operatorToken: OPERATOR_TOKEN } = credentials
  const { world, host, get, send } = startHost({
    createMetrics,
    variables: { OPERATOR_TOKEN, ...variables },
    ...options,
  })
  const document: OpenApiDocument = await (await get('/openapi.json')).json()
  const validate = createValidator(document)
  // The document lets a response have more fields, for later hosts. This host has no others.
  const schemas = JSON.parse(JSON.stringify(document.components.schemas), (_, value) =>
    value?.type === 'object' && value.properties ? { additionalProperties: false, ...value } : value,
  )
  const validateExactly = createValidator({ ...document, components: { ...document.components, schemas } })
  /** The successful events and functions, such as `/mailer/webhook sendEmail`. */
  const seen = new Set<string>()

  /** The differences between a response and the document. */
  function faultsOf(path: string, method: 'get' | 'post', { status, headers, body }: HostResponse): string[] {
    const response = document.paths[path]?.[method]?.responses[status]
    if (!response) return ['The document has no such status.']
    const isShared = '$ref' in response
    const place = isShared ? response.$ref : `#${placeOf('paths', path, method, 'responses', `${status}`)}`
    const shared = isShared ? document.components.responses[place.replace(/.*\//, '')] : response
    const { content = {}, headers: declared = {} } = shared ?? {}
    const mediaType = headers.get('content-type')?.split(';', 1)[0] ?? ''
    if (!content[mediaType]) return [`The document has no ${mediaType}.`]
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
    return faults.some((each) => each.length === 0)
      ? []
      : ['It is no response to the event.', ...faults.flat()]
  }

  return {
    world,
    host,
    document,
    validate,
    seen,
    async send(route: string, event: unknown, delivery: DeliverOptions = {}): Promise<HostResponse> {
      const path = `/${route}/webhook`
      const response = await send(route, event, delivery)
      const faults = faultsOf(path, 'post', response)
      if (response.status === 200) faults.push(...faultsOfSuccess(path, event, response.body))
      if (faults.length > 0) expect.fail(`${faults.join(' ')} ${JSON.stringify([event, response.body])}`)
      return response
    },
    /** Asks any operation. */
    async ask(
      path: string,
      { id = 'evt', ...init }: RequestInit & { id?: string } = {},
    ): Promise<HostResponse> {
      const url = `http://host.test${path.replace('{id}', id)}`
      const response = await host.fetch(new Request(url, { headers: operator, ...init }))
      const { status, headers } = response
      const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '')
      const read = { status, headers, body: await (isJson ? response.json() : response.text()) }
      expect(faultsOf(path, init.method ? 'post' : 'get', read), JSON.stringify(read)).toEqual([])
      return read
    },
  }
}
const { document, world, send, ask } = await startContract()

describe('the OpenAPI document of the host', () => {
  it('passes a strict linter', async () => {
    const findings = await lint(document, {
      'operation-4xx-response': 'A GET route without parameters has no invalid request.',
    })
    expect(findings).toEqual([])
  })

  it('has examples that succeed as they are, in their order, once the provider has the user they name', async () => {
    const succeeded: string[] = []
    for (const { post } of Object.values(document.paths)) {
      const examples = post?.requestBody?.content['application/json']?.examples ?? {}
      for (const [name, { value }] of Object.entries(examples)) {
        const { deployment, functionCall, route } = Object(value)
        if (route !== undefined) continue
        if (name === 'DEPLOYMENT_CREATED') world.platform.addDeployment({ id: deployment.id })
        const { userId } = Object(functionCall?.arguments)
        for (const instance of world.backend.instances.values())
          if (userId && !instance.users.has(userId)) instance.createUser({ id: userId })
        expect((await send(post?.tags[0] ?? '', value)).status, name).toBe(200)
        succeeded.push(name)
      }
    }
    expect(succeeded.length).toBeGreaterThan(30)
  })

  it('has every route that is read, and the one that settles a delivery', async () => {
    world.mail.faults.add({ cut: 'after' })
    expect(await send('mailer', calling('sendEmail', mail), { id: 'evt_lost' })).toMatchObject({
      status: 409,
    })
    const [reading, posting] = ['get', 'post'].map((method) =>
      Object.keys(document.paths).filter((path) => method in Object(document.paths[path])),
    )
    expect(reading).toHaveLength(7)
    for (const path of reading ?? [])
      expect(await ask(path, { id: 'evt_lost' }), path).toMatchObject({ status: 200 })
    expect(posting).toHaveLength(validRoutes.length + 1)
    const body = JSON.stringify({ route: 'mailer', outcome: 'not_sent' })
    const settled = await ask('/deliveries/{id}/settle', { id: 'evt_lost', method: 'POST', body })
    expect(settled).toMatchObject({ status: 200 })
  })
})

const validRoutes = [...new Set(validEvents.map(({ route }) => route))]
const create = (id: string, inputs: object) => ({ name: 'DEPLOYMENT_CREATED', deployment: { id, inputs } })
/** Asks for a longer wait than any event has time for, so nothing is retried. */
const fault = (status: number) => ({ status, headers: { 'retry-after': '600' } })
const startOn = (store: Partial<DeliveryStore>) => startContract({ store: { ...memoryStore(), ...store } })
const away = () => Promise.reject(new Error('The store is away.'))

/** How to provoke problems of most statuses. */
const problems: Record<string, () => Promise<HostResponse>> = {
  'invalid_event 400': () => send('mailer', { name: 'NONSENSE' }),
  async 'invalid_signature 401'() {
    const variables = { PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret }
    return (await startContract({ variables })).send('mailer', { name: 'HEALTH_CHECK' })
  },
  'not_found 404': () => ask('/deliveries/{id}', { id: 'evt_never' }),
  async 'delivery_in_progress 409'() {
    const store = memoryStore()
    await store.claim({ subject: 'mailer/delivery/evt_busy', leaseMs: 60_000 })
    return (await startOn(store)).send('mailer', calling('sendEmail', mail), { id: 'evt_busy' })
  },
  async 'body_too_large 413'() {
    const small = await startContract({ variables: { BODY_LIMIT: '1024' } })
    return small.send('mailer', calling('sendEmail', { ...mail, textBody: 'x'.repeat(1024) }))
  },
  'invalid_arguments 422': () => send('mailer', calling('sendEmail', { ...mail, subjekt: 'Hi' })),
  'provider_rejected 422': () => send('idp', calling('getUser', { userId: 'user_never' })),
  async 'provider_rate_limited 429'() {
    world.mail.faults.add(fault(429))
    return send('mailer', calling('getDeliveryStats'))
  },
  async 'internal_error 500'() {
    const broken = await startOn({ claim: async () => JSON.parse('null') })
    return broken.send('mailer', create('dep_1', {}))
  },
  async 'platform_unavailable 502'() {
    world.platform.faults.add({ ...fault(503), times: 9 })
    return send('mailer', create('dep_4', { serverType: 'shared' }))
  },
  'overloaded 503': async () => (await startOn({ claim: away })).send('mailer', create('dep_1', {})),
  async 'provider_timeout 504'() {
    world.mail.faults.add(fault(408))
    return send('mailer', calling('getDeliveryStats'))
  },
}

describe('a response of the host fits the document', () => {
  it.each(Object.entries(problems))('with the problem %s', async (name, provoke) => {
    const { status, body } = await provoke()
    world.platform.faults.clear()
    expect(`${Object(body).code} ${status}`).toBe(name)
  })

  it('while the provider is away, and after the end of a deployment', async () => {
    const deployment = mailDeployment('dep_end')
    const created = { name: 'DEPLOYMENT_CREATED', deployment }
    world.platform.addDeployment({ id: 'dep_end' })
    await send('mailer', created)
    world.mail.faults.add(fault(503))
    expect((await send('mailer', { ...created, name: 'HEALTH_CHECK' })).body).toMatchObject({
      status: 'unhealthy',
    })
    await send('mailer', { ...created, name: 'DEPLOYMENT_DELETED' })
    expect((await send('mailer', created)).body).toMatchObject({ status: 'ignored' })
  })

  it('to a redelivery: with the header of a replay, and without sensitive outputs', async () => {
    world.platform.addDeployment({ id: 'dep_again' })
    const event = { name: 'DEPLOYMENT_CREATED', deployment: mailDeployment('dep_again') }
    const sendIt = () => send('mailer', event, { id: 'evt_again' })
    const [first, second] = [await sendIt(), await sendIt()]
    expect(first.body).toHaveProperty('outputs.apiToken')
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.body).not.toHaveProperty('outputs.apiToken')
  })

  it('to GET /readyz of a host that can’t reach its store', async () => {
    expect(await (await startOn({ probe: away })).ask('/readyz')).toMatchObject({ status: 503 })
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
      yield {
        event: JSON.parse(JSON.stringify(event)),
        change: `${place.join('.')}: ${JSON.stringify(value)}`,
      }
    }
  }
}

function placesOf(value: unknown, place: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => [[...place, key], ...placesOf(each, [...place, key])])
}

describe('an event', async () => {
  const environment = { TENANT_MAIL_TOKEN: credentials.tenantMailToken }
  const { world, send, validate, seen } = await startContract({ environment })
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
        const isExplained = isAccepted
          ? isPartOfBatch && Object(body).result?.failed > 0
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
