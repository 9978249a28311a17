import {
  createWebhookHandler,
  defineIntegration,
  environmentReference,
  functionArguments,
  secret,
} from '@org/core'
import { connectPlatform } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { referencePaths, secretPaths } from '../src/contract/marks.ts'
import { bare } from './fixtures.ts'

const password = secret(z.string())
const call = { description: 'x', effectful: false, arguments: functionArguments({}), result: z.object({}) }
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
  const transformed = z.object({ password }).transform(Object).pipe(z.object({}))
  it.each<[string, z.ZodType, string]>([
    ['a transform', transformed, '.password is marked within a transform'],
    ['a schema that contains itself', tree, ' contains itself'],
    ['a key of a record', z.record(password, z.string()), ' has marked keys'],
    ['a field with a dot', z.object({ 'a.b': password }), '.a.b has the name “a.b”'],
    ['a number', z.array(secret(z.number().nullable())), '.* is marked with secret(), and core finds texts'],
  ])('is refused if a secret is in %s, where nobody finds it', (_, schema, message) => {
    expect(faultsOf(() => defineIntegration({ ...bare, outputs: z.object({ x: schema }) }))).toContain(
      `The integration “elsewhere” has one fault:\n  outputs.x${message}`,
    )
  })

  it('is refused with the path of each fault', () => {
    const examples = [{ to: 'Ada' }]
    const wrong = {
      ...bare,
      name: 'No Route',
      inputs: z.object({ when: z.array(z.date()) }),
      events: ['DEPLOYMENT_PAUSED'],
      functions: {
        send: { ...call, sends: 'one', result: z.object({ size: z.bigint().optional() }) },
        mail: { ...call, resumeable: true, arguments: z.object({}) },
        greet: { ...call, arguments: call.arguments.meta({ examples }) },
      },
      metric: {},
    }
    const faults = faultsOf(() => Reflect.apply(defineIntegration, undefined, [wrong]))
    expect(faults.split('\n  ')).toEqual([
      'The integration “No Route” has 10 faults:',
      'name expected lower-case words joined by hyphens',
      expect.stringMatching(/^events\[0\] expected one of "DEPLOYMENT_CREATED"/),
      expect.stringMatching(/^inputs\.when\.\* is a date/),
      expect.stringMatching(/^functions\.send\.result\.size is a bigint/),
      'functions.send is resumable or sends, so it is effectful, too',
      'functions.send.settled is required: every function that sends has it',
      expect.stringMatching(/^functions\.mail\.arguments expected functionArguments/),
      'functions.mail.resumeable is not known here',
      'functions.greet.arguments refuse an example of their own',
      'metric is not known here; the nearest name is “metrics”',
    ])
  })

  it('is refused with all faults that its parts have together', () => {
    const functions = { send: { ...call, aliases: ['mail out'] }, mail: { ...call, aliases: ['send'] } }
    const wrong = { ...bare, functions, events: ['HEALTH_CHECK', 'HEALTH_CHECK', 'DOWNLOAD_STARTED'] }
    const faults = faultsOf(() => Reflect.apply(defineIntegration, undefined, [wrong]))
    expect(faults.split('\n  ').slice(1)).toEqual([
      'events name an event twice',
      'functions have a name that is no word',
      'functions have a name or an alias twice',
      'functions need the event FUNCTION_CALL',
      'downloads are missing: DOWNLOAD_STARTED is an event of it',
    ])
  })

  it('makes no handler if a handler, a method of the platform or the verifier is missing', () => {
    const events = ['HEALTH_CHECK', 'FUNCTION_CALL'] as const
    const wrong = [
      { ...bare, events, functions: { send: call } },
      { functions: { sent: () => {} }, heath: () => [] },
    ]
    expect(faultsOf(() => Reflect.apply(createWebhookHandler, undefined, wrong)).split('\n  ')).toEqual([
      'The handler of “elsewhere” has 6 faults:',
      'handlers.health is missing',
      'handlers.functions.send is missing',
      'handlers.heath is never called; the nearest name is “health”',
      'handlers.functions.sent is never called; the nearest name is “functions.send”',
      expect.stringMatching(/^platform is no Platform: expected the methods getDeployment, setStatus/),
      expect.stringMatching(/^verify is required: createVerifier/),
    ])
  })

  it.each([
    { leaseMs: 999, timeoutMs: 0, bodyLimit: Number.NaN },
    { store: {}, timeoutMs: 2 ** 31, bodyLimit: '25s', secrets: 'abcdef', recordKeys: 'abcdef' },
  ])('makes no handler with the dependencies %j', (wrong) => {
    const dependencies = { platform: connectPlatform(fetch), verify: 'none', ...wrong }
    const given = [bare, { health: () => [] }, dependencies]
    const faults = faultsOf(() => Reflect.apply(createWebhookHandler, undefined, given))
    const named = faults.split('\n  ').slice(1)
    expect(named.map((fault) => fault.split(' ')[0]).toSorted()).toEqual(Object.keys(wrong).toSorted())
  })
})
