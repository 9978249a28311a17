/** An integration that has one of everything, and a host that runs it against the platform emulator. */
import {
  checkHealth,
  createWebhookHandler,
  type DeliveryStore,
  defineIntegration,
  environmentReference,
  functionArguments,
  type HandlerContext,
  type HandlerDependencies,
  type Handlers,
  IntegrationError,
  secret,
} from '@org/core'
import { errorCodes } from '@org/core/errors'
import { eventNames, type LogLevel, problemSchema } from '@org/core/hosting'
import { connectPlatform, createPlatformEmulator } from '@org/core/testing'
import { expect, vi } from 'vitest'
import * as z from 'zod'

/** A call of the integration to its provider. */
export interface ProviderCall {
  action: 'connect' | 'discard' | 'disconnect' | 'ping' | 'count' | 'greet'
  token?: string | undefined
  to?: string | undefined
}

type Provider = (call: ProviderCall, context: HandlerContext) => Promise<void>

export const greeter = defineIntegration({
  name: 'greeter',
  title: 'Greetings',
  description: 'Greets people.',
  events: eventNames.filter((name) => name !== 'WEBHOOK_CHALLENGE'),
  inputs: z.object({
    token: environmentReference(secret(z.string().min(1).max(100))).optional(),
    region: z.enum(['eu', 'us']).default('eu'),
    contacts: z.array(z.object({ name: z.string() })).optional(),
    labels: z.array(environmentReference(z.string())).optional(),
  }),
  outputs: z.object({
    token: secret(z.string()),
    region: z.string(),
    session: z
      .object({ keys: z.array(secret(z.string())), hours: z.int() })
      .optional()
      .describe('Only in the region us.'),
    labels: z.array(z.string()).optional(),
  }),
  functions: {
    sendGreeting: {
      description: 'Greets one person.',
      aliases: ['greet'],
      effectful: true,
      arguments: functionArguments({ to: z.string(), password: secret(z.string()).optional() }),
      result: z.object({ id: z.string() }),
    },
    issueKeys: {
      description: 'Makes a key for each person.',
      effectful: true,
      arguments: functionArguments({ people: z.array(z.object({ password: secret(z.string()) })) }),
      result: z.array(z.object({ key: secret(z.string()), about: z.unknown().optional() })),
    },
    countGreetings: {
      description: 'Counts.',
      aliases: ['count'],
      effectful: false,
      arguments: functionArguments({}),
      result: z.object({ count: z.int() }),
    },
  },
  metrics: { greetings_sent: { description: 'Greetings sent.', unit: 'greetings' } },
  downloads: ['.env.local', 'middleware.ts'],
})

/** An integration that handles HEALTH_CHECK alone. */
export const bare = defineIntegration({
  name: 'elsewhere',
  title: 'Elsewhere',
  description: 'Is managed elsewhere.',
  events: ['HEALTH_CHECK'],
  inputs: z.object({}),
  outputs: z.object({}),
  functions: {},
  metrics: {},
  downloads: [],
})

const tokenOf = async ({ deployment }: HandlerContext) => (await deployment?.outputs(greeter.outputs))?.token

const createHandlers = (provider: Provider) =>
  ({
    async created({ token, region, labels }, context) {
      if (token === undefined) throw new IntegrationError('missing_credentials', 'There is no token.')
      await provider({ action: 'connect', token }, context)
      context.log.info(`Connected with ${token}.`, { region })
      if (labels) context.log.info(`Labelled ${labels}.`)
      if (region === 'us') context.log.info(`Opened a session with ${session.keys}.`, session)
      return { token, region, labels, session: region === 'us' ? session : undefined }
    },
    async discard(_, context) {
      await provider({ action: 'discard' }, context)
    },
    async deleted(context) {
      await provider({ action: 'disconnect', token: await tokenOf(context) }, context)
    },
    async health(context) {
      return [await checkHealth('provider', () => provider({ action: 'ping' }, context))]
    },
    async metrics(context) {
      await provider({ action: 'count' }, context)
      return { greetings_sent: 3 }
    },
    async download(path, context) {
      return [{ path, contentType: 'text/plain', content: `TOKEN=${await tokenOf(context)}\n` }]
    },
    functions: {
      async sendGreeting({ to }, context) {
        await provider({ action: 'greet', to, token: await tokenOf(context) }, context)
        return { id: `greeting-to-${to}` }
      },
      async issueKeys({ people }, { log }) {
        log.info(`Made ${issuedKey} for ${people.map(({ password }) => password)}.`)
        return people.map(() => ({ key: issuedKey }))
      },
      async countGreetings(_, context) {
        await provider({ action: 'count' }, context)
        return { count: 3 }
      },
    },
  }) satisfies Handlers<typeof greeter>

export const token = 'token-4f9a1c77'
export const issuedKey = 'key-of-the-vault'
export const session = { keys: ['session-key-of-us'], hours: 8 }

export const deployment = { id: 'dep_1' }
export const outputs = { token, region: 'eu' }
export const created = { name: 'DEPLOYMENT_CREATED', deployment: { ...deployment, inputs: { token } } }
export const deleted = { name: 'DEPLOYMENT_DELETED', deployment: { ...deployment, outputs } }
export const greet = calling('greet', { to: 'Ada' })

/** A call of a function, without a deployment. */
export function calling(name: string, args?: Record<string, unknown>) {
  return { name: 'FUNCTION_CALL', functionCall: { name, ...(args ? { arguments: args } : {}) } }
}

/** The host of a test. */
export type Host = ReturnType<typeof createHost>

type All = Handlers<typeof greeter>
type SomeHandlers = Partial<Omit<All, 'functions'> & { functions: Partial<All['functions']> }>

/** Makes a host for the integration, with one deployment `dep_1` on its platform. */
export function createHost({
  provider = async () => {},
  route = greeter.name,
  handlers: { functions, ...others } = {},
  ...dependencies
}: Partial<HandlerDependencies & { provider: Provider; route: string; handlers: SomeHandlers }> = {}) {
  const platform = createPlatformEmulator()
  platform.addDeployment({ ...deployment, inputs: { token } })
  const providerCalls: ProviderCall[] = []
  const lines: { level: LogLevel; message: string; facts: Record<string, unknown> | undefined }[] = []
  const handlers = createHandlers((call, context) => {
    providerCalls.push(call)
    return provider(call, context)
  })
  const handle = createWebhookHandler(
    { ...greeter, name: route },
    { ...handlers, ...others, functions: { ...handlers.functions, ...functions } },
    {
      platform: connectPlatform(platform.fetch),
      verify: 'none',
      logger: (level, message, facts) => lines.push({ level, message, facts }),
      ...dependencies,
    },
  )
  /** Every write that the platform received, as `PUT /deployments/dep_1/status running`. */
  const writes = () =>
    platform.calls
      .filter(({ method }) => method !== 'GET')
      .map(({ method, path, body }) => `${method} ${path} ${Object(body).status ?? ''}`.trimEnd())
  return { handle, platform, providerCalls, lines, writes, record: () => platform.deployments.get('dep_1') }
}

/** A provider that fails with an error at every call. */
export const failing = (error: unknown) => () => Promise.reject(error)

const away = () => Promise.reject(new Error('connect ECONNREFUSED'))
/** A store that can’t be reached. */
export const unreachableStore: DeliveryStore = {
  claim: away,
  renew: away,
  advance: away,
  complete: away,
  release: away,
  reopen: away,
  reserve: away,
  read: away,
  probe: away,
}

/** A clock that the test moves. */
export function clock(time = Date.now()) {
  return {
    now: () => time,
    pass(milliseconds: number) {
      time += milliseconds
    },
  }
}

/** The calls of Web Crypto that are under way. They take real time, on other threads. */
let encrypting = 0
const { subtle } = crypto
const { encrypt, decrypt } = subtle
async function track<Result>(work: Promise<Result>): Promise<Result> {
  encrypting += 1
  return work.finally(() => (encrypting -= 1))
}
subtle.encrypt = (...given) => track(encrypt.apply(subtle, given))
subtle.decrypt = (...given) => track(decrypt.apply(subtle, given))

/** Resolves as the work does, in fake time: nobody waits for its timers. */
export async function inFakeTime<Result>(work: () => Promise<Result>): Promise<Result> {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] as const
  const isFake = vi.isFakeTimers()
  if (!isFake) vi.useFakeTimers({ toFake: [...toFake] })
  let isOver = false
  const result = work().finally(() => (isOver = true))
  while (!isOver) {
    await new Promise(setImmediate)
    if (encrypting === 0) await vi.advanceTimersByTimeAsync(50)
  }
  if (!isFake) vi.useRealTimers()
  return result
}

const headerCanary = 'canary-in-a-header'

/** Posts a body, as it is or as JSON, with a header that must not come back, and reads the problem. */
export async function refusal({ handle }: Host, body: unknown, headers: HeadersInit = {}) {
  const isWire = typeof body === 'string' || body instanceof Blob || body instanceof ReadableStream
  return readProblem(
    await post(handle, isWire ? body : JSON.stringify(body), {
      authorization: `Bearer ${headerCanary}`,
      'x-forwarded-for': headerCanary,
      ...headers,
    }),
  )
}

/** Posts a body as JSON. */
export function post(handle: Host['handle'], body: BodyInit, headers: HeadersInit = {}) {
  const given = { 'content-type': 'application/json', ...headers }
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers: given, body, duplex: 'half' }
  return handle(new Request('http://host.test/greeter/webhook', init))
}

/** Reads a problem, and checks what every problem promises. */
export async function readProblem(response: Response) {
  const text = await response.text()
  for (const secret of [token, headerCanary]) expect(text).not.toContain(secret)
  expect(text).not.toMatch(/\n? +at .+:\d+|"(stack|cause|headers)"/)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    ...{ 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
    ...{ 'content-security-policy': "default-src 'none'; frame-ancestors 'none'", 'x-frame-options': 'DENY' },
    ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
    'cross-origin-resource-policy': 'same-origin',
  })
  const problem = problemSchema.strict().parse(JSON.parse(text))
  const { retryable } = errorCodes[problem.code]
  expect(problem).toMatchObject({ status: response.status, retryable, type: `urn:problem:${problem.code}` })
  expect(problem.title).not.toBe('')
  return { ...problem, headers: response.headers }
}
