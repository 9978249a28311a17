import { defineIntegration, environmentReference, secret } from '@org/core'
import { secretNames, toManifest } from '@org/core/internal'
import { describe, expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { EventTraits } from '../src/contract/event-traits.ts'
import { bare, greeter } from './fixtures.ts'

describe('the manifest of an integration', () => {
  it('has everything that a form needs: fields, marks, outputs, functions, metrics and files', () => {
    const manifest = toManifest(greeter)
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
      functions: {
        sendGreeting: {
          aliases: ['greet'],
          effectful: true,
          arguments: {
            required: ['to'],
            additionalProperties: false,
            properties: { password: { writeOnly: true } },
          },
          result: { properties: { id: { type: 'string' } } },
        },
        issueKey: {},
        countGreetings: { effectful: false },
      },
    })
    expect(manifest.inputs.required).toBeUndefined()
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
    expect(properties).toMatchObject({ d: { environmentReference: true } })
    expect(JSON.stringify(properties).match(/environmentReference/g)).toHaveLength(1)
  })
})

it('a definition is refused if two functions share a name, or if it has downloads without their event', () => {
  const call = { description: 'x', effectful: false, arguments: z.object({}), result: z.object({}) }
  for (const wrong of [
    { functions: { send: call, mail: { ...call, aliases: ['send'] } } },
    { functions: { a: { ...call, aliases: ['x'] }, b: { ...call, aliases: ['x'] } } },
    { downloads: ['.env.local'] },
    { events: ['DOWNLOAD_STARTED'] as const },
  ])
    expect(() => defineIntegration({ ...bare, ...wrong })).toThrow(TypeError)
})

// The compiler checks it; it does nothing at run time.
describe('the traits of an event', () => {
  type Claimed = { claims: 'deployment'; status: { done: 'running'; failed: 'failed' }; inputs: 'platform' }
  it('let it publish only if it claims a deployment that was not deleted', () => {
    expectTypeOf<Claimed & { publishes: true; life: 'needed' }>().toExtend<EventTraits>()
    expectTypeOf<Claimed & { publishes: true; life: 'any' }>().not.toExtend<EventTraits>()
    type Unclaimed = Omit<Claimed, 'claims'> & { claims: 'nothing'; publishes: true; life: 'needed' }
    expectTypeOf<Unclaimed>().not.toExtend<EventTraits>()
  })
})
