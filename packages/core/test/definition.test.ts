import { defineIntegration, environmentReference, secret } from '@org/core'
import { secretNames, toManifest } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { bare, greeter } from './fixtures.ts'

describe('the manifest of an integration', () => {
  const manifest = toManifest(greeter)

  it('has everything that a form needs: fields, defaults, marks, outputs, metrics and files', () => {
    expect(manifest).toMatchObject({
      name: 'greeter',
      webhook: '/greeter/webhook',
      events: ['WEBHOOK_CHALLENGE', ...greeter.events],
      sensitiveOutputs: ['token', 'sessionKey'],
      metrics: { greetings_sent: { description: 'Greetings sent.', unit: 'greetings' } },
      downloads: ['.env.local', 'middleware.ts'],
      inputs: {
        type: 'object',
        properties: {
          token: { type: 'string', writeOnly: true, environmentReference: true },
          region: { enum: ['eu', 'us'], default: 'eu' },
        },
      },
      outputs: { required: ['token', 'region'] },
    })
    expect(manifest.inputs.required).toBeUndefined()
  })

  it('has every function with its arguments and its result', () => {
    expect(Object.keys(manifest.functions)).toEqual(Object.keys(greeter.functions))
    const properties = { password: { writeOnly: true } }
    expect(manifest.functions.sendGreeting).toMatchObject({
      aliases: ['greet'],
      effect: true,
      arguments: { required: ['to'], additionalProperties: false, properties },
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

  it('can’t be made of a schema that JSON Schema can’t express', () => {
    expect(() => toManifest({ ...bare, inputs: z.object({ when: z.date() }) })).toThrow()
  })

  it('has the marks of a field below optional, nullable, default and a description, in any order', () => {
    const inputs = z.object({
      plain: z.string(),
      a: secret(z.string()).optional(),
      b: secret(z.string().optional()),
      c: secret(z.string()).nullable().default(null),
      d: environmentReference(secret(z.string())).optional(),
      e: secret(z.string()).describe('A key.'),
      f: secret(z.string().describe('A key.')),
    })
    expect(secretNames(inputs)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
    const { properties } = toManifest({ ...bare, inputs }).inputs
    const referring = Object.entries(properties ?? {}).filter(
      ([, field]) => 'environmentReference' in Object(field),
    )
    expect(referring.map(([name]) => name)).toEqual(['d'])
  })
})

describe('a definition', () => {
  const call = { description: 'x', effect: false, arguments: z.object({}), result: z.object({}) }

  it.each([
    { send: call, mail: { ...call, aliases: ['send'] } },
    { a: { ...call, aliases: ['x'] }, b: { ...call, aliases: ['x'] } },
  ])('is refused if two functions share a name', (functions) => {
    expect(() => defineIntegration({ ...bare, functions })).toThrow(TypeError)
  })

  it('is refused with downloads but not their event, or the reverse', () => {
    expect(() => defineIntegration({ ...bare, downloads: ['.env.local'] })).toThrow(TypeError)
    expect(() => defineIntegration({ ...bare, events: ['DOWNLOAD_STARTED'] })).toThrow(TypeError)
  })
})
