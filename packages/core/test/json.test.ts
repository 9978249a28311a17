import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJson } from '../src/json.ts'

const names = fc.constantFrom('\\', '"', '\n', 'a\\', 'a"', 'a\n', 'a/n', 'a', '__proto__', 'ü', '1', '')
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(0, -1.5, true, null, '', ',', ']},"', '[{:', 'a\\"b', 'ü', '😀'),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('json')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}))
const countOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, item) => sum + countOf(item), 1)

describe('a JSON text', () => {
  it('has the keys and values that its sender wrote, whatever others wrote before, and as many values', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2), (value, space) => {
        const text = JSON.stringify(value, undefined, space)
        const read = readJson(text)
        expect(JSON.stringify(read.value, undefined, space)).toBe(text)
        expect(read.values).toBe(countOf(value))
      }),
      { numRuns: 2_000 },
    )
    expect(readJson('{"a\\u0062":1,"b":2,"ab":3,"\\u0061b":4}').value).toEqual({ ab: 4, b: 2 })
  })

  it('is refused where the engine refuses it, with the same position', () => {
    const changes = fc.constantFrom(...',]}[{":0\\\n ')
    const outcome = (parse: () => unknown) => {
      try {
        parse()
        return 'valid'
      } catch (error) {
        return error instanceof SyntaxError ? error.message : error
      }
    }
    fc.assert(
      fc.property(json, fc.nat(), changes, (value, at, change) => {
        const valid = JSON.stringify(value)
        const place = at % (valid.length + 1)
        const text = valid.slice(0, place) + change + valid.slice(place + 1)
        expect(outcome(() => readJson(text))).toBe(outcome(() => JSON.parse(text)))
      }),
      { numRuns: 2_000 },
    )
  })
})
