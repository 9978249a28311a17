import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import {
  defineIntegration,
  environmentReference,
  errorCodes,
  eventNames,
  secret,
  secretNames,
  toManifest,
  toOpenApi,
} from '../src/index.ts'
import { referenceNames } from '../src/integration.ts'
import { greeter } from './example.ts'

const bare = defineIntegration({
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

describe('a manifest', () => {
  const manifest = toManifest(greeter)

  it('says everything that a platform needs to draw a form', () => {
    expect(manifest).toMatchObject({
      name: 'greeter',
      webhook: '/greeter/webhook',
      events: ['WEBHOOK_CHALLENGE', ...greeter.events],
      sensitiveOutputs: ['token', 'sessionKey'],
      metrics: { greetings_sent: { description: 'Greetings sent.', unit: 'greetings' } },
      downloads: ['.env.local', 'middleware.ts'],
    })
    expect(manifest.inputs).toMatchObject({
      type: 'object',
      properties: {
        token: { type: 'string', writeOnly: true, environmentReference: true },
        region: { enum: ['eu', 'us'], default: 'eu' },
      },
    })
    expect(manifest.inputs.required).toBeUndefined()
    expect(manifest.outputs.required).toEqual(['token', 'region'])
  })

  it('has every function, with what it takes and what it gives', () => {
    expect(Object.keys(manifest.functions)).toEqual(Object.keys(greeter.functions))
    expect(manifest.functions.sendGreeting).toMatchObject({
      aliases: ['greet'],
      effect: true,
      arguments: {
        required: ['to'],
        additionalProperties: false,
        properties: { password: { writeOnly: true } },
      },
      result: { properties: { id: { type: 'string' } } },
    })
    expect(manifest.functions.countGreetings).toMatchObject({ effect: false })
  })

  it('is plain data', () => {
    for (const definition of [greeter, bare]) {
      const plain = toManifest(definition)
      expect(JSON.parse(JSON.stringify(plain))).toEqual(plain)
    }
  })

  it('can’t be made of a schema that JSON Schema can’t say', () => {
    const odd = { ...bare, inputs: z.object({ when: z.date() }) }
    expect(() => toManifest(odd)).toThrow()
  })
})

describe('the OpenAPI document', () => {
  const document = toOpenApi([greeter, bare], { title: 'Host', version: '1.0.0' })
  const operation = z.object({
    post: z.object({
      operationId: z.string(),
      requestBody: z.object({
        content: z.object({
          'application/json': z.object({
            schema: z.object({ oneOf: z.array(z.looseObject({ title: z.string() })) }),
          }),
        }),
      }),
      responses: z.record(z.string(), z.unknown()),
    }),
  })
  const { paths, components } = z
    .object({
      openapi: z.literal('3.1.0'),
      paths: z.record(z.string(), operation),
      components: z.object({ responses: z.record(z.string(), z.object({ description: z.string() })) }),
    })
    .parse(document)
  const bodies = (route: string) =>
    paths[route]?.post.requestBody.content['application/json'].schema.oneOf.map(({ title }) => title)

  it('has every route, and nothing else', () => {
    expect(Object.keys(paths)).toEqual(['/greeter/webhook', '/elsewhere/webhook'])
  })

  it('has every event and every function of a route', () => {
    const others = eventNames.filter((name) => name !== 'FUNCTION_CALL')
    const calls = Object.keys(greeter.functions).map((name) => `FUNCTION_CALL ${name}`)
    expect(bodies('/greeter/webhook')?.sort()).toEqual([...others, ...calls].sort())
    expect(bodies('/elsewhere/webhook')?.sort()).toEqual([...others].sort())
  })

  it('has every alias of a function', () => {
    expect(JSON.stringify(document)).toContain('"enum":["sendGreeting","greet"]')
  })

  it('has every status of the contract, and beside each the codes that it may carry', () => {
    const statuses = new Set(Object.values(errorCodes).map(({ status }) => String(status)))
    for (const { post } of Object.values(paths)) {
      expect(new Set(Object.keys(post.responses))).toEqual(new Set(['200', ...statuses]))
    }
    for (const [code, { status }] of Object.entries(errorCodes)) {
      expect(components.responses[`Problem${status}`]?.description).toContain(`\`${code}\``)
    }
  })

  it('refers to nothing that it does not have', () => {
    const text = JSON.stringify(document)
    const references = [...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '')
    expect(references.length).toBeGreaterThan(0)
    for (const reference of new Set(references)) {
      const target = reference
        .split('/')
        .reduce<unknown>((at, key) => new Map(Object.entries(Object(at))).get(key), document)
      expect(target, reference).toBeDefined()
    }
  })
})

describe('marks', () => {
  it('are found below optional, nullable and default, in either order', () => {
    const schema = z.object({
      plain: z.string(),
      a: secret(z.string()),
      b: secret(z.string()).optional(),
      c: secret(z.string().optional()),
      d: secret(z.string()).nullable().default(null),
      e: environmentReference(secret(z.string())).optional(),
    })
    expect(secretNames(schema)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(referenceNames(schema)).toEqual(['e'])
  })

  it('outlive a description', () => {
    const schema = z.object({
      a: secret(z.string()).describe('A key.'),
      b: secret(z.string().describe('A key.')),
    })
    expect(secretNames(schema)).toEqual(['a', 'b'])
  })
})

describe('a definition', () => {
  it('in which two functions answer to one name is refused', () => {
    const call = { description: 'x', effect: false, arguments: z.object({}), result: z.object({}) }
    for (const functions of [
      { send: call, mail: { ...call, aliases: ['send'] } },
      { a: { ...call, aliases: ['x'] }, b: { ...call, aliases: ['x'] } },
    ]) {
      expect(() => defineIntegration({ ...bare, functions })).toThrow(TypeError)
    }
  })

  it('in which downloads and their event do not go together is refused', () => {
    expect(() => defineIntegration({ ...bare, downloads: ['.env.local'] })).toThrow(TypeError)
    expect(() => defineIntegration({ ...bare, events: ['DOWNLOAD_STARTED'] })).toThrow(TypeError)
  })
})
