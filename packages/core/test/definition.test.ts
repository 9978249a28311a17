import {
  asksFor,
  createWebhookHandler,
  defineIntegration,
  type EnvironmentLookup,
  environmentReference,
  functionArguments,
  type Handlers,
  secret,
  token,
} from '@org/core'
import { toManifest } from '@org/core/hosting'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { EventTraits } from '../src/contract/event.ts'
import { referencePaths, secretPaths } from '../src/contract/marks.ts'
import { bare } from './fixtures.ts'

const password = secret(z.string())
const call = { description: 'x', effectful: false, arguments: z.object({}), result: z.object({}) }
/** The message of the error that a work throws. */
function faultsOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof TypeError) return error.message
  }
  throw new Error('There was no TypeError.')
}

describe('a definition', () => {
  it('has its marks at any depth, below every wrapper, and in any order with other words', () => {
    const inputs = z.object({
      plain: z.string(),
      a: environmentReference(password).optional().describe('A key.'),
      b: secret(z.string().optional()).nullable().default(null),
      c: z.object({ uri: password.min(3) }).readonly(),
      d: z.array(z.object({ key: password })).optional(),
      e: z.record(z.string(), password),
      f: z.union([z.string(), z.object({ key: password })]),
      g: secret(z.object({ user: z.string() })),
      h: z.tuple([z.string(), password]).catch(['', '']),
      i: z.lazy(() => z.object({ password })),
    })
    const paths = ['a', 'b', 'c.uri', 'd.*.key', 'e.*', 'f.key', 'g', 'h.*', 'i.password']
    expect(secretPaths(inputs)).toEqual(paths)
    expect(referencePaths(inputs)).toEqual(['a'])
  })

  const tree = z.object({
    password,
    get children() {
      return z.array(tree)
    },
  })
  it.each<[string, z.ZodType, string]>([
    [
      'a transform',
      z.object({ password }).transform(Object).pipe(z.object({})),
      '.password is marked within a transform',
    ],
    ['a schema that contains itself', tree, ' contains itself'],
    ['a key of a record', z.record(password, z.string()), ' has marked keys'],
    ['a field with a dot', z.object({ 'a.b': password }), '.a.b has the name “a.b”'],
  ])('is refused if a secret is in %s, where nobody finds it', (_, schema, message) => {
    expect(faultsOf(() => defineIntegration({ ...bare, outputs: z.object({ x: schema }) }))).toContain(
      `The integration “elsewhere” has one fault:\n  outputs.x${message}`,
    )
  })

  it('is refused with all its faults, each at its path', () => {
    const wrong = {
      ...bare,
      name: 'No Route',
      inputs: z.object({ when: z.array(z.date()) }).meta(asksFor(['a', 'b'], {})),
      outputs: z.object({ id: environmentReference(z.string()) }),
      functions: {
        send: {
          ...call,
          sends: 'one',
          aliases: ['mail out'],
          result: z.object({ size: z.bigint().optional() }),
        },
        mail: { ...call, aliases: ['send'] },
      },
      downloads: ['.env.local'],
      metric: {},
    } as const
    expect(faultsOf(() => defineIntegration(wrong)).split('\n  ')).toEqual([
      'The integration “No Route” has 12 faults:',
      'name expected lower-case words joined by hyphens',
      'metric is not known here; the nearest name is “metrics”',
      expect.stringMatching(/^inputs\.when\.\* is a date/),
      'inputs ask for “a”, which is no field of theirs',
      expect.stringMatching(/^outputs\.id is marked with environmentReference/),
      expect.stringMatching(/^functions\.send has the name “mail out”/),
      'functions.send is resumable or sends, so it is effectful, too',
      'functions.send.settled is required: every function that sends has it',
      expect.stringMatching(/^functions\.send\.result\.size is a bigint/),
      'functions.mail has the name “send”, as another function has',
      'functions need the event FUNCTION_CALL',
      'downloads need the event DOWNLOAD_STARTED',
    ])
  })

  it('makes no handler if a handler, a method of the platform or the verifier is missing', () => {
    const definition = {
      ...bare,
      events: ['HEALTH_CHECK', 'FUNCTION_CALL'] as const,
      functions: { send: call },
    }
    const wrong = [definition, { functions: { sent: () => {} } }]
    expect(faultsOf(() => Reflect.apply(createWebhookHandler, undefined, wrong)).split('\n  ')).toEqual([
      'The handler of “elsewhere” has 5 faults:',
      'handlers.health is missing: it handles HEALTH_CHECK',
      'handlers.functions.send is missing',
      'handlers.functions.sent is no function of the definition; the nearest name is “send”',
      expect.stringMatching(/^platform is no Platform: it has no getDeployment, setStatus/),
      expect.stringMatching(/^verify is required: createVerifier/),
    ])
  })

  it.each([
    ['leaseMs', 999],
    ['timeoutMs', 0],
    ['timeoutMs', 2 ** 31],
    ['bodyLimit', Number.NaN],
    ['bodyLimit', '25s'],
    ['store', {}],
    ['secrets', 'abcdef'],
    ['recordKeys', 'abcdef'],
  ])('makes no handler if %s is %j', (name, value) => {
    const dependencies = { platform: connectPlatform(fetch), verify: 'none', [name]: value }
    const given = [bare, { health: () => [] }, dependencies]
    expect(faultsOf(() => Reflect.apply(createWebhookHandler, undefined, given))).toMatch(
      `The handler of “elsewhere” has one fault:\n  ${name} `,
    )
  })

  it('lets a form take a reference wherever an input may be one', () => {
    const inputs = z.object({
      key: environmentReference(z.string().min(9).regex(/^sk_/)).optional().meta({ title: 'Key' }),
      token: environmentReference(token()),
      urls: z.array(environmentReference(z.url())),
    })
    const { properties } = toManifest({ ...bare, inputs }).inputs
    const { key, token: tokenField, urls } = Object(properties)
    for (const field of [key, tokenField]) expect('a{{ env.NAME }}b').toMatch(new RegExp(field.pattern))
    expect('pk_1').not.toMatch(new RegExp(key.pattern))
    expect([key.minLength, urls.items.format]).toEqual([undefined, undefined])
  })
})

it('a secret at any depth is in no log, callback, problem or record, and its output is told as a path', async () => {
  const platform = createPlatformEmulator()
  const record = platform.addDeployment({ id: 'dep_1' })
  const lines: unknown[] = []
  const connection = z.object({ uri: password, region: z.string() })
  const definition = defineIntegration({
    ...bare,
    events: ['DEPLOYMENT_CREATED', 'FUNCTION_CALL'],
    inputs: z.object({ database: z.object({ password: environmentReference(password) }) }),
    outputs: z.object({ connection, keys: z.array(password), region: z.string() }),
    functions: {
      rotate: {
        ...call,
        effectful: true,
        arguments: functionArguments({ users: z.array(z.object({ password })) }),
        result: z.array(z.object({ key: password })),
      },
    },
  })
  const handlers = {
    async created({ database }, { log }) {
      log.info(`Connects with ${database.password}, and made secret-uri and`, { keys: ['secret-key'] })
      return { connection: { uri: 'secret-uri', region: 'eu' }, keys: ['secret-key'], region: 'eu' }
    },
    functions: {
      async rotate({ users }, { log }) {
        log.info(`Rotates ${users[0]?.password} to secret-result`)
        return [{ key: 'secret-result' }]
      },
    },
  } satisfies Handlers<typeof definition>
  const environment: EnvironmentLookup = () => ({ value: 'the-value-of-the-host' })
  const handle = createWebhookHandler(definition, handlers, {
    platform: connectPlatform(platform.fetch),
    verify: 'none',
    environment,
    logger: (...line) => lines.push(line),
  })
  const inputs = { database: { password: '{{env.PASSWORD}}' } }
  const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
  const functionCall = { name: 'rotate', arguments: { users: [{ password: 'secret-argument' }] } }
  const responses = []
  for (const event of [created, { name: 'FUNCTION_CALL', functionCall }])
    for (const _ of [1, 2]) responses.push((await deliver(handle, event, { id: event.name })).body)
  const outputs = { connection: { uri: 'secret-uri', region: 'eu' }, keys: ['secret-key'], region: 'eu' }
  expect(responses).toEqual([
    { status: 'running', outputs },
    { status: 'running', outputs: { region: 'eu' } },
    { result: [{ key: 'secret-result' }] },
    { result: [{ key: '[redacted]' }] },
  ])
  expect(record).toMatchObject({ outputs, sensitive: ['connection.uri', 'keys.*'] })
  expect(JSON.stringify([lines, record.logs])).toContain('Connects with [redacted], and made')
  expect(JSON.stringify([lines, record.logs])).not.toMatch(/secret-|the-value/)
})

// The compiler checks it; it does nothing at run time.
it('an event publishes only if its traits claim a deployment that was not deleted', () => {
  type Claimed = { claims: 'deployment'; status: { done: 'running'; failed: 'failed' }; inputs: 'platform' }
  expectTypeOf<Claimed & { publishes: true; life: 'needed' }>().toExtend<EventTraits>()
  expectTypeOf<Claimed & { publishes: true; life: 'any' }>().not.toExtend<EventTraits>()
  type Unclaimed = Omit<Claimed, 'claims'> & { claims: 'nothing'; publishes: true; life: 'needed' }
  expectTypeOf<Unclaimed>().not.toExtend<EventTraits>()
})
