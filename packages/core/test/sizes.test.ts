import {
  createWebhookHandler,
  defineIntegration,
  functionArguments,
  type Handlers,
  IntegrationError,
} from '@org/core'
import { parsedByFunction } from '@org/core/authoring'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, calling, createHost, failing, greet, token } from './fixtures.ts'

/** How often a schema looked at an entry. */
let looks = 0
const entry = z.string().refine(() => {
  looks += 1
  return true
})
beforeEach(() => {
  looks = 0
})

const sizes = defineIntegration({
  ...bare,
  name: 'sizes',
  events: ['FUNCTION_CALL'],
  functions: {
    count: {
      description: 'Counts.',
      effectful: false,
      arguments: functionArguments({
        list: z.union([entry, z.array(entry)]).optional(),
        few: z.array(entry).max(50).optional(),
        many: z.array(parsedByFunction(z.unknown())).optional(),
        body: z
          .string()
          .max(10 * 1024 * 1024)
          .optional(),
        data: z.record(z.string(), z.unknown()).optional(),
      }),
      result: z.object({ count: z.int() }),
    },
  },
})
const handlers = {
  functions: { count: async ({ many }) => ({ count: many?.length ?? 0 }) },
} satisfies Handlers<typeof sizes>
const handle = createWebhookHandler(sizes, handlers, {
  platform: connectPlatform(createPlatformEmulator().fetch),
  logger: () => {},
})
const count = (args: Record<string, unknown>) => deliver(handle, calling('count', args))
const repeat = <Value>(times: number, value: Value) => Array<Value>(times).fill(value)
const megabyte = 1024 * 1024

describe('the size of an argument', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['list', 'may have 10,000 entries, but has 190,000', { list: repeat(190_000, 0) }],
    ['few', 'may have 50 entries, but has 51', { few: repeat(51, 'a') }],
    ['many', 'may have 10,000 entries, but has 10,001', { many: repeat(10_001, 0) }],
    ['list', 'is longer than 1,048,576 characters', { list: 'x'.repeat(megabyte + 1) }],
    [
      'data.a.b[1]',
      'is longer than 1,048,576 characters',
      { data: { a: { b: [1, 'x'.repeat(megabyte + 1)] } } },
    ],
    ['unknown', 'may have 10,000 entries, but has 10,001', { unknown: repeat(10_001, 0) }],
  ])('is refused at %s before a schema looks at it: %s', async (path, message, args) => {
    const { status, body } = await count({ list: ['a'], ...args })
    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'invalid_arguments', errors: [{ path, message }] })
    expect(looks).toBe(0)
  })

  it('may be exactly the limit', async () => {
    const many = [...repeat(9_999, 0), 'x'.repeat(2 * megabyte)]
    expect(await count({ many })).toMatchObject({ body: { result: { count: 10_000 } } })
    const others = { list: repeat(10_000, 'a'), few: repeat(50, 'a'), data: { text: 'x'.repeat(megabyte) } }
    expect((await count({ ...others, body: 'x'.repeat(2 * megabyte) })).status).toBe(200)
    expect(looks).toBe(10_050)
  })
})

describe('the faults of a call', () => {
  it('are 50 and the number of the others, with a suggestion for the first few alone', async () => {
    const unknown = Object.fromEntries(Array.from({ length: 4_900 }, (_, index) => [`lists${index}`, 0]))
    const { body } = await count({ ...unknown, list: [0] })
    const { errors } = z
      .object({ errors: z.array(z.object({ path: z.string(), message: z.string() })) })
      .parse(body)
    expect(errors).toHaveLength(51)
    expect(errors.at(-1)).toEqual({ path: '', message: 'and 4851 more' })
    expect(errors.filter(({ message }) => message.includes('the nearest name')).length).toBeLessThanOrEqual(5)
    expect(body).toMatchObject({ detail: expect.stringContaining('and 4900 more') })
  })

  it('repeat the beginning of a name alone', async () => {
    const { body } = await count({
      ['x'.repeat(megabyte)]: 0,
      data: { ['y'.repeat(megabyte)]: repeat(10_001, 0) },
    })
    expect(JSON.stringify(body).length).toBeLessThan(2_000)
  })
})

describe('an answer', () => {
  it('has the beginning of what a provider said, and no part of a secret', async () => {
    const message = `${'x'.repeat(3_995)}${token}${'x'.repeat(megabyte)}`
    const provider = { name: 'greeter', status: 400, code: message, message }
    const host = createHost({
      secrets: [token],
      provider: failing(new IntegrationError('provider_rejected', message, { hint: message, provider })),
    })
    for (const event of [greet, { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }]) {
      const text = JSON.stringify((await deliver(host.handle, event)).body)
      expect(text.length).toBeLessThan(20_000)
      expect(text).not.toContain(token.slice(0, 5))
    }
  })

  it('repeats no challenge of megabytes', async () => {
    const event = { name: 'WEBHOOK_CHALLENGE', challenge: 'x'.repeat(megabyte) }
    expect(await deliver(handle, event)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'challenge' }] },
    })
  })
})

describe('the size of an input', () => {
  const create = (inputs: object) =>
    deliver(createHost().handle, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })

  it.each([
    ['label', 'is longer than 65,536 characters', { label: 'x'.repeat(65_537) }],
    ['label', 'is longer than 65,536 characters', { label: '{{env.A}}'.repeat(100_000) }],
    ['contacts', 'may have 10,000 entries, but has 10,001', { contacts: repeat(10_001, 0) }],
  ])('is refused at %s: %s', async (name, message, inputs) => {
    const path = `deployment.inputs.${name}`
    expect((await create({ token, ...inputs })).body).toMatchObject({
      code: 'invalid_inputs',
      errors: [{ path, message }],
    })
  })

  it('is refused if a reference makes it too long', async () => {
    const host = createHost({ environment: () => ({ value: 'x'.repeat(1_000) }) })
    const inputs = { token, label: '{{env.A}}'.repeat(100) }
    const { body } = await deliver(host.handle, {
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_1', inputs },
    })
    expect(body).toMatchObject({ errors: [{ message: 'is longer than 65,536 characters' }] })
  })

  it('does not matter where the contract has no such input', async () => {
    expect((await create({ token, colour: 'x'.repeat(megabyte) })).status).toBe(200)
  })
})
