/**
 * Hostile requests, and the rules for every response. The test and the long run (`pnpm fuzz`) share them.
 */
import { sign } from '@org/core'
import { eventNames, problemSchema } from '@org/core/internal'
import * as fc from 'fast-check'
import { createWorld, credentials } from './hosted.ts'

const routes = ['auth', 'idp', 'idp-server', 'mailer'] as const

/** A request, and whether it is signed. */
export interface FuzzedRequest {
  path: string
  method: string
  headers: Record<string, string>
  body: string | Uint8Array<ArrayBuffer>
  signed: boolean
}

const hostileWords = [
  ...['a\r\nBcc: evil@example.com', 'a\nb', 'a@b.c\r\nX: y', '\u0000', '\u2028', '\ud800'],
  ...['..', '../../users', '%2e%2e%2f', '', ' ', 'x'.repeat(5_000)],
  ...['__proto__', 'constructor', 'toString', 'valueOf'],
  ...['nonsense', 'http://169.254.169.254/', 'https://user:pass@example.com', 'file:///etc/passwd'],
  ...['{{env.PATH}}', '{{env.PLATFORM_API_TOKEN}}', '{{'.repeat(500)],
]
const hostileText = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
  { weight: 8, arbitrary: fc.constantFrom(...hostileWords) },
)
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  hostileText,
  fc.constantFrom(-0, 1e308, Number.MAX_SAFE_INTEGER),
)

const mail = {
  to: ['ada@example.com', 'Bob <bob@example.com>'],
  subject: 'Hello',
  htmlBody: '<p>Hi</p>',
  textBody: 'Hi',
  from: 'Shop <shop@example.com>',
  cc: 'cc@example.com',
  bcc: ['bcc@example.com'],
  replyTo: 'reply@example.com',
  tag: 'welcome',
  messageStream: 'outbound',
  headers: { 'X-Campaign': 'one' },
  metadata: { order: '7' },
  attachments: [{ name: 'a.txt', content: 'aGk=', contentType: 'text/plain' }],
  trackOpens: true,
}
const { attachments: _, ...slim } = mail
const person = {
  emailAddress: ['ada@example.com'],
  firstName: 'Ada',
  lastName: 'Lovelace',
  username: 'ada',
  phoneNumber: '+15555550123',
  password: 'correct horse battery staple',
  externalId: '7',
  publicMetadata: { plan: 'gold' },
  privateMetadata: { nested: { list: [1, null, true] } },
  unsafeMetadata: {},
  skipPasswordChecks: true,
}
const { emailAddress: _address, phoneNumber: _number, ...changes } = person
const list = { limit: 5, offset: 0, orderBy: '-created_at', query: 'ada', emailAddress: 'ada@example.com' }
const ofUsers = {
  createUser: person,
  getUser: { userId: 'user_1' },
  listUsers: { ...list, banned: false },
  updateUser: { userId: 'user_1', ...changes },
  deleteUser: { userId: 'user_1' },
  countUsers: { query: 'ada' },
  createOrganization: {
    name: 'Acme',
    slug: 'acme',
    createdBy: 'user_1',
    maxAllowedMemberships: 5,
    publicMetadata: {},
  },
  listOrganizations: { query: 'a', limit: 5, offset: 0, includeMembersCount: true },
}
const functions: Record<string, Record<string, object>> = {
  mailer: {
    sendEmail: mail,
    send: { to: 'ada@example.com', subject: 'Hi', body: 'x' },
    sendEmails: { messages: [slim, mail] },
    sendBatch: { to: ['a@example.com', 'b@example.com'], subject: 'Hi', textBody: 'x' },
    getDeliveryStats: {
      tag: 'welcome',
      fromDate: '2026-11-01',
      toDate: '2026-11-20',
      messageStream: 'outbound',
    },
  },
  idp: ofUsers,
  'idp-server': ofUsers,
}
const publishableKey = `pk_test_${btoa('tenant.clerk.accounts.dev$')}`
const keys = { publishableKey, secretKey: credentials.tenantSecretKey }
const deployments: Record<string, { inputs: object; outputs: object }> = {
  mailer: {
    inputs: {
      serverType: 'dedicated',
      apiToken: '{{env.TENANT_MAIL_TOKEN}}',
      fromEmail: 'Shop <shop@example.com>',
      messageStream: 'outbound',
      baseUrl: 'https://mail.example.com/api',
    },
    outputs: {
      apiToken: credentials.tenantMailToken,
      fromEmail: 'shop@example.com',
      apiUrl: 'https://mail.example.com',
      messageStream: 'outbound',
    },
  },
  idp: {
    inputs: { serverType: 'dedicated', ...keys },
    outputs: { ...keys, frontendApiUrl: 'https://tenant.clerk.accounts.dev' },
  },
  'idp-server': {
    inputs: {
      applicationName: 'Shop',
      platformApiKey: credentials.tenantAccessToken,
      environmentType: 'production',
      domain: 'example.com',
      template: 'b2b-saas',
    },
    outputs: {
      applicationId: 'app_1',
      instanceId: 'ins_1',
      ...keys,
      frontendApiUrl: 'https://x.clerk.accounts.dev',
    },
  },
  auth: { inputs: {}, outputs: {} },
}

/** Every valid event on each route. */
export const fitting = routes.flatMap((route) =>
  eventNames.flatMap((name) => {
    const calls = Object.entries(functions[route] ?? {}).map(([called, given]) => ({
      name: called,
      arguments: given,
    }))
    const named = { id: 'dep_1', ...deployments[route] }
    return (name === 'FUNCTION_CALL' ? calls : [undefined]).flatMap((functionCall) =>
      [named, { id: 'dep_2', inputs: named.inputs }, { id: 'dep_3' }, undefined].map((deployment) => ({
        route,
        event: {
          id: 'evt_1',
          name,
          timestamp: '2026-11-20T09:00:00Z',
          deployment,
          challenge: 'c_1',
          download: { id: 'dl_1', file: '.env.local' },
          functionCall,
        },
      })),
    )
  }),
)

/** One change at the n-th place of an event. */
interface Mutation {
  place: number
  change: 'replace' | 'remove' | 'add' | 'repeat'
  name: string
  value: unknown
}
const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  change: fc.constantFrom('replace', 'replace', 'replace', 'replace', 'remove', 'add', 'repeat'),
  name: hostileText,
  value: anyValue,
})

/** The objects and arrays of a value. */
function containersOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return []
  return [value, ...Object.values(value).flatMap(containersOf)]
}

const writable = { enumerable: true, configurable: true, writable: true }

function mutate(event: object, mutations: readonly Mutation[]): object {
  const mutated = structuredClone(event)
  for (const { place, change, name, value } of mutations) {
    const places = containersOf(mutated).flatMap((container) =>
      Object.keys(container).map((key) => ({ container, key })),
    )
    const at = places[place % places.length]
    if (!at) continue
    const before = Reflect.get(at.container, at.key)
    // Mostly replaces text by text, so that enough events pass the first check.
    const other = typeof before === 'string' && place % 5 !== 0 ? name : value
    if (change === 'remove') Reflect.deleteProperty(at.container, at.key)
    else if (change === 'replace') Reflect.set(at.container, at.key, other)
    else if (change === 'repeat') Reflect.set(at.container, at.key, Array(60).fill(before))
    // Not an assignment, which would set the prototype for “__proto__”.
    else Object.defineProperty(at.container, name, { ...writable, value })
  }
  return mutated
}

const event = fc
  .tuple(fc.constantFrom(...fitting), fc.array(mutation, { maxLength: 3 }))
  .map(([{ route, event }, mutations]) => ({ route, event: mutate(event, mutations) }))

const anyBody: fc.Arbitrary<FuzzedRequest['body']> = fc.oneof(
  { weight: 2, arbitrary: anyValue.map((value) => JSON.stringify(value) ?? '') },
  { weight: 1, arbitrary: hostileText },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Uint8Array.from(bytes)) },
  // A truncated event.
  {
    weight: 1,
    arbitrary: fc
      .tuple(event, fc.nat({ max: 200 }))
      .map(([{ event }, at]) => JSON.stringify(event).slice(0, at)),
  },
)
const headerText = fc
  .string({ unit: 'binary-ascii' })
  .map((value) => value.replaceAll(/[^\x20-\x7e]/g, ''))
  .map((value) => value.trim())
const headers = fc.record(
  {
    'content-type': fc.oneof(
      { weight: 30, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: headerText },
    ),
    'content-encoding': fc.oneof(
      { weight: 30, arbitrary: fc.constant('identity') },
      { weight: 1, arbitrary: headerText },
    ),
    'webhook-id': fc.oneof(headerText, fc.uuid()),
    'webhook-timestamp': headerText,
    'webhook-signature': headerText,
    origin: headerText,
    'x-forwarded-for': headerText,
  },
  { requiredKeys: ['content-type'] },
)

const method = fc.oneof(
  { weight: 30, arbitrary: fc.constant('POST') },
  { weight: 1, arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD') },
)
const signed = fc.oneof(
  { weight: 15, arbitrary: fc.constant(true) },
  { weight: 1, arbitrary: fc.constant(false) },
)
const anyPath = fc.oneof(
  fc.constantFrom(...routes).map((route) => `/${route}/webhook`),
  fc.webPath(),
  fc.constantFrom('/healthz', '/integrations', '/openapi.json', '/__proto__/webhook'),
)

/** Mostly events with some faults, sometimes any request at all. */
export const anyRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ event, method, headers, signed }).map(({ event: { route, event }, ...rest }) => ({
      path: `/${route}/webhook`,
      body: JSON.stringify(event),
      ...rest,
    })),
  },
  { weight: 1, arbitrary: fc.record({ path: anyPath, method, headers, body: anyBody, signed }) },
)

/** A host between emulators. */
export function createTarget() {
  const world = createWorld()
  const secret = credentials.webhookSecret
  const host = world.start({
    variables: { PLATFORM_WEBHOOK_SECRET: secret, BODY_LIMIT: '100000' },
    environment: { TENANT_MAIL_TOKEN: credentials.tenantMailToken, PATH: '/bin' },
  })
  for (const name of ['dep_1', 'dep_2', 'dep_3']) world.platform.addDeployment({ id: name })
  const prototypes = () =>
    [Object.prototype, Array.prototype, Function.prototype, String.prototype].map(
      (prototype) => Reflect.ownKeys(prototype).length,
    )
  const before = prototypes().join()

  async function toRequest({ path, method, headers, body, signed }: FuzzedRequest): Promise<Request> {
    const own = signed ? await sign({ secret, id: headers['webhook-id'] || 'evt', body }) : {}
    const carries = method !== 'GET' && method !== 'HEAD'
    const init = { method, headers: { ...headers, ...own }, ...(carries ? { body } : {}) }
    return new Request(`http://host.test${path}`, init)
  }

  return {
    /**
     * Sends a request.
     *
     * @returns the rule that the response breaks, as a sentence; otherwise `undefined`
     */
    async send(fuzzed: FuzzedRequest): Promise<string | undefined> {
      world.sent.length = 0
      const response = await host.fetch(await toRequest(fuzzed))
      const text = await response.text()
      if (prototypes().join() !== before) return 'The request changed a prototype.'
      if (response.status >= 500) return `The status is ${response.status}: ${text}`
      const isReading = fuzzed.method !== 'POST' && !fuzzed.path.endsWith('/webhook')
      if (response.status >= 400 && fuzzed.method !== 'HEAD' && !isReading) {
        if (response.headers.get('content-type') !== 'application/problem+json')
          return `The failure is no problem: ${text}`
        const problem = problemSchema.strict().safeParse(JSON.parse(text))
        if (!problem.success || problem.data.status !== response.status)
          return `The problem is invalid: ${text}`
      }
      return findBrokenLine(world)
    },
    world,
  }
}

/** Finds a line break where the provider would read a new header, or a request that leads elsewhere. */
function findBrokenLine({ sent }: ReturnType<typeof createWorld>): string | undefined {
  for (const { host, url, headers, text } of sent) {
    for (const [name, value] of headers)
      if (/[\r\n]/.test(value)) return `A header holds a line break: ${name}`
    if (host === 'idp.test' && !new URL(url).pathname.startsWith('/v1/')) return `A call left its API: ${url}`
    if (host !== 'mail.test' || !new URL(url).pathname.startsWith('/email')) continue
    const parsed = JSON.parse(text)
    for (const mail of [parsed].flat()) {
      const named = (mail.Headers ?? []).flatMap(Object.values)
      const { From, To, Cc, Bcc, ReplyTo, Subject, Tag, MessageStream } = mail
      for (const line of [From, To, Cc, Bcc, ReplyTo, Subject, Tag, MessageStream, ...named])
        if (typeof line === 'string' && /[\r\n]/.test(line))
          return `A line of a mail is broken: ${JSON.stringify(mail)}`
    }
  }
  return undefined
}
