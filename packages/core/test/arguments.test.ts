import { createWebhookHandler, defineIntegration, functionArguments, type Handlers } from '@org/core'
import { parsedByFunction } from '@org/core/authoring'
import { suggestion } from '@org/core/internal/host'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bare, calling, createHost, token } from './fixtures.ts'

const megabyte = 1024 * 1024
const looked = vi.fn(() => true)
const entry = z.string().refine(looked)
const long = z.string().max(10 * megabyte)
const counter = defineIntegration({
  ...bare,
  events: ['FUNCTION_CALL'],
  functions: {
    count: {
      description: 'Counts.',
      effectful: false,
      arguments: functionArguments({
        to: z.string(),
        list: z.union([entry, z.array(entry)]),
        few: z.array(entry).max(50).optional(),
        many: z.array(parsedByFunction(z.unknown())).optional(),
        body: long.optional(),
        data: z.record(z.string(), z.unknown()).optional(),
        kind: z.enum(['plain', 'rich']).optional(),
        email: z.email().optional(),
        files: z.array(functionArguments({ name: z.string().max(5) })).optional(),
      }),
      result: z.object({ count: z.int() }),
    },
  },
})
const handlers = {
  functions: { count: async ({ many }) => ({ count: many?.length ?? 0 }) },
} satisfies Handlers<typeof counter>
const platform = connectPlatform(createPlatformEmulator().fetch)
const handle = createWebhookHandler(counter, handlers, { platform, verify: 'none', logger: () => {} })
const count = (args: object) => deliver(handle, calling('count', { to: 'a', list: ['a'], ...args }))
const repeat = <Value>(times: number, value: Value) => Array<Value>(times).fill(value)

describe('the arguments of a call', () => {
  it.each<[string, string, object]>([
    ['to', 'is required: expected string', { to: undefined }],
    ['kind', 'expected one of "plain"|"rich"', { kind: 'odd' }],
    ['files[1].name', 'is required: expected string', { files: [{ name: 'a' }, {}] }],
    ['fwe', 'is not known here; the nearest name is “few”', { fwe: 1 }],
    ['x-y', 'is not known here', { 'x-y': 1 }],
    ['files[0].fwe', 'is not known here', { files: [{ name: 'a', fwe: 1 }] }],
  ])('are refused at %s: %s', async (path, message, args) => {
    const body = { code: 'invalid_arguments', errors: [{ path, message }] }
    expect(await count(args)).toMatchObject({ status: 422, body })
  })

  it.each<[string, string, object]>([
    ['list', 'may have 10,000 entries, but has 190,000', { list: repeat(190_000, 0) }],
    ['many', 'may have 10,000 entries, but has 10,001', { many: repeat(10_001, 0) }],
    ['list', 'is longer than 1,048,576 characters', { list: 'x'.repeat(megabyte + 1) }],
    ['data.a[1]', 'is longer than 1,048,576 characters', { data: { a: [1, 'x'.repeat(megabyte + 1)] } }],
    ['unknown', 'may have 10,000 entries, but has 10,001', { unknown: repeat(10_001, 0) }],
  ])('are refused at %s before a schema looks at them: %s', async (path, message, args) => {
    looked.mockClear()
    expect(await count(args)).toMatchObject({ status: 422, body: { errors: [{ path, message }] } })
    expect(looked).not.toHaveBeenCalled()
  })

  it('may be exactly as large as the limits', async () => {
    const many = [...repeat(9_999, 0), 'x'.repeat(2 * megabyte)]
    expect(await count({ many })).toMatchObject({ body: { result: { count: 10_000 } } })
    const others = { list: repeat(10_000, 'a'), few: repeat(50, 'a'), data: { text: 'x'.repeat(megabyte) } }
    expect((await count({ ...others, body: 'x'.repeat(2 * megabyte) })).status).toBe(200)
  })

  it('are never quoted, because they may be secrets', async () => {
    const canary = 'canary-5d1f'
    const texts = { few: canary, kind: canary, email: canary, data: canary }
    const { body } = await count({ ...texts, files: [{ name: canary }] })
    expect(Object(body).errors).toHaveLength(5)
    expect(JSON.stringify(body)).not.toContain(canary)
  })

  it('have at most 50 faults, the number of the others, and a suggestion for the first few alone', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 4_900 }, (_, index) => [`lists${index}`, 0]))
    const { body } = await count({ ...unknown, list: [0], ['x'.repeat(megabyte)]: 0 })
    const { errors, detail } = Object(body)
    expect(errors).toHaveLength(51)
    expect(errors.at(-1)).toEqual({ path: '', message: 'and 4852 more' })
    expect(JSON.stringify(errors).match(/the nearest name/g)?.length).toBeLessThanOrEqual(5)
    expect(detail).toContain('and 4901 more')
    const long = { ['x'.repeat(megabyte)]: 0, data: { ['y'.repeat(megabyte)]: repeat(10_001, 0) } }
    expect(JSON.stringify((await count(long)).body).length).toBeLessThan(2_000)
  })
})

describe('the inputs of a deployment', () => {
  const create = (inputs: object) => {
    const host = createHost({ environment: () => ({ value: 'x'.repeat(1_000) }) })
    return deliver(host.handle, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
  }

  it.each([
    ['labels[0]', 'is longer than 65,536 characters', { labels: ['x'.repeat(65_537)] }],
    ['labels[0]', 'is longer than 65,536 characters', { labels: ['{{env.A}}'.repeat(100)] }],
    ['contacts', 'may have 10,000 entries, but has 10,001', { contacts: repeat(10_001, 0) }],
    ['region', 'expected one of "eu"|"us"', { region: 'mars' }],
    ['contacts[0].name', 'expected string, received number', { contacts: [{ name: 7 }] }],
  ])('are refused at %s if they do not fit: %s', async (name, message, inputs) => {
    const errors = [{ path: `deployment.inputs.${name}`, message }]
    expect((await create({ token, ...inputs })).body).toMatchObject({ code: 'invalid_inputs', errors })
  })

  it('may be of any size where the contract has no such input', async () => {
    expect((await create({ token, colour: 'x'.repeat(megabyte) })).status).toBe(200)
  })
})

it.each([
  ['createuser', '; the nearest name is “createUser”'],
  ['sned', '; the nearest name is “send”'],
  ['users', '; the nearest name is “listUsers”'],
  ['deleteOrganization', ''],
  ['x'.repeat(100_000), ''],
])('the suggestion for “%s” is “%s”', (given, words) => {
  expect(suggestion(given, ['createUser', 'getUser', 'listUsers', 'send'])).toBe(words)
})
