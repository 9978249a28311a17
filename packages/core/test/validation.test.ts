import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { fieldErrors, functionArguments, suggestion } from '../src/index.ts'

const message = functionArguments({
  to: z.union([z.string(), z.array(z.string())]),
  subject: z.string().max(5),
  kind: z.enum(['plain', 'rich']).optional(),
  attachments: z.array(functionArguments({ name: z.string() })).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  email: z.email().optional(),
})

/** The faults of a message, as `path: message`. */
function faults(value: unknown, base = ''): string[] {
  const { error } = message.safeParse(value)
  const errors = error ? fieldErrors(error, base, Object.keys(message.shape)) : []
  return errors.map(({ path, message: said }) => `${path}: ${said}`)
}

const fine = { to: 'a', subject: 's' }

describe('the faults of an input', () => {
  it('are none where it fits', () => {
    expect(faults({ ...fine, metadata: { a: 'b' } })).toEqual([])
  })

  it('say what is required', () => {
    expect(faults({ to: 'a' })).toEqual(['subject: is required: expected string'])
  })

  it('name the place in a list, and in a list of objects', () => {
    expect(faults({ ...fine, attachments: [{ name: 'a' }, {}] })).toEqual([
      'attachments[1].name: is required: expected string',
    ])
    expect(faults({ ...fine, metadata: { colour: 5 } })).toEqual([
      'metadata.colour: expected string, received number',
    ])
  })

  it('are below a base', () => {
    expect(faults({ ...fine, subject: 5 }, 'messages[3]')).toEqual([
      'messages[3].subject: expected string, received number',
    ])
    expect(faults(null, 'messages[3]')).toEqual(['messages[3]: expected object, received null'])
  })

  it('are all told, not only the first', () => {
    expect(faults({ subject: 5, kind: 'odd' })).toHaveLength(3)
  })

  it('name the nearest field for one that is not known, and every one that is not', () => {
    expect(faults({ ...fine, subjcet: 'x', 'x-y': 1 })).toEqual([
      'subjcet: is not known here; did you mean “subject”?',
      'x-y: is not known here',
    ])
  })

  it('suggest the fields of the top at the top alone', () => {
    expect(faults({ ...fine, attachments: [{ name: 'a', subjct: 1 }] })).toEqual([
      'attachments[0].subjct: is not known here',
    ])
  })

  it('never quote the value, which may be a secret', () => {
    const canary = 'canary-5d1f'
    const wrong = {
      to: 5,
      subject: canary,
      kind: canary,
      email: canary,
      metadata: canary,
      attachments: [canary],
    }
    expect(faults(wrong)).toHaveLength(6)
    expect(JSON.stringify(faults(wrong))).not.toContain(canary)
  })

  it('say what is expected of a choice', () => {
    expect(faults({ ...fine, kind: 'odd' })).toEqual(['kind: expected one of "plain"|"rich"'])
  })
})

describe('a suggestion', () => {
  const names = ['createUser', 'getUser', 'listUsers', 'send']

  it.each([
    ['createuser', 'createUser'],
    ['creatUser', 'createUser'],
    ['getUsers', 'getUser'],
    ['sned', 'send'],
    ['LISTUSERS', 'listUsers'],
  ])('for “%s” is “%s”', (given, nearest) => {
    expect(suggestion(given, names)).toBe(`; did you mean “${nearest}”?`)
  })

  it.each(['', 'x', 'deleteOrganization', 'x'.repeat(100_000)])('is none where nothing is near', (given) => {
    expect(suggestion(given, names)).toBe('')
  })

  it('is none where there are no names', () => {
    expect(suggestion('send', [])).toBe('')
  })
})
