import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineIntegration, environmentReference, secret, secretNames, toManifest } from '../src/index.ts'
import { referenceNames } from '../src/contract/integration.ts'
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
