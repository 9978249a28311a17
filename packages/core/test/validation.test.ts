import { functionArguments } from '@org/core'
import { parseArguments } from '@org/core/authoring'
import { suggestion } from '@org/core/internal'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'

const message = functionArguments({
  to: z.union([z.string(), z.array(z.string())]),
  subject: z.string().max(5),
  kind: z.enum(['plain', 'rich']).optional(),
  attachments: z.array(functionArguments({ name: z.string() })).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  email: z.email().optional(),
})

/** The faults of a message, as `path: message`. */
function faults(value: unknown): string[] {
  const { errors = [] } = parseArguments(message, value)
  return errors.map(({ path, message }) => `${path}: ${message}`)
}

const valid = { to: 'a', subject: 's' }

describe('the faults of a value', () => {
  it.each<[object, string[]]>([
    [{ metadata: { a: 'b' } }, []],
    [{ subject: undefined }, ['subject: is required: expected string']],
    [{ attachments: [{ name: 'a' }, {}] }, ['attachments[1].name: is required: expected string']],
    [{ metadata: { colour: 5 } }, ['metadata.colour: expected string, received number']],
    [{ kind: 'odd' }, ['kind: expected one of "plain"|"rich"']],
    [
      { subjcet: 'x', 'x-y': 1 },
      ['subjcet: is not known here; the nearest name is “subject”', 'x-y: is not known here'],
    ],
    [{ attachments: [{ name: 'a', subjct: 1 }] }, ['attachments[0].subjct: is not known here']],
  ])('of %j are %j', (fields, expected) => {
    expect(faults({ ...valid, ...fields })).toEqual(expected)
  })

  it('are complete, and never quote a value, which may be a secret', () => {
    const canary = 'canary-5d1f'
    const fields = { subject: canary, kind: canary, email: canary, metadata: canary, attachments: [canary] }
    const all = faults({ to: 5, ...fields })
    expect(all).toHaveLength(6)
    expect(all.join()).not.toContain(canary)
  })
})

it.each([
  ['createuser', '; the nearest name is “createUser”'],
  ['getUsers', '; the nearest name is “getUser”'],
  ['sned', '; the nearest name is “send”'],
  ['create', '; the nearest name is “createUser”'],
  ['users', '; the nearest name is “listUsers”'],
  ['', ''],
  ['deleteOrganization', ''],
  ['x'.repeat(100_000), ''],
])('the suggestion for “%s” is “%s”', (given, words) => {
  expect(suggestion(given, ['createUser', 'getUser', 'listUsers', 'send'])).toBe(words)
})
