import { defineIntegration, environmentReference, secret } from '@org/core'
import { toManifest } from '@org/core/internal'
import { expect, expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import type { EventTraits } from '../src/contract/event.ts'
import { referenceNames, secretNames } from '../src/contract/marks.ts'
import { bare } from './fixtures.ts'

it('a manifest can’t be made of a schema that JSON Schema can’t express', () => {
  expect(() => toManifest({ ...bare, inputs: z.object({ when: z.date() }) })).toThrow()
})

it('a field has its marks below optional, nullable, default and a description, in any order', () => {
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
  expect(referenceNames(inputs)).toEqual(['d'])
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
it('an event publishes only if its traits claim a deployment that was not deleted', () => {
  type Claimed = { claims: 'deployment'; status: { done: 'running'; failed: 'failed' }; inputs: 'platform' }
  expectTypeOf<Claimed & { publishes: true; life: 'needed' }>().toExtend<EventTraits>()
  expectTypeOf<Claimed & { publishes: true; life: 'any' }>().not.toExtend<EventTraits>()
  type Unclaimed = Omit<Claimed, 'claims'> & { claims: 'nothing'; publishes: true; life: 'needed' }
  expectTypeOf<Unclaimed>().not.toExtend<EventTraits>()
})
