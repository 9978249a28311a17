import { setImmediate } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, expect, it, vi } from 'vitest'
import { toJson } from '../src/delivery/json.ts'
import { createRedactor, redactInSlices } from '../src/redact.ts'
import { createHost, deployment, post } from './fixtures.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

it('events that arrive together are parsed a few in each turn of the event loop', async () => {
  const { handle } = createHost()
  const body = JSON.stringify({ name: 'HEALTH_CHECK', deployment, more: 'x'.repeat(1_000) })
  let clock = 0
  let parsed = 0
  const { parse } = JSON
  vi.spyOn(performance, 'now').mockImplementation(() => clock)
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => {
    if (text === body) {
      parsed += 1
      // In milliseconds: three of them fill a slice.
      clock += 4
    }
    return parse(text, reviver)
  })
  const isOver = Promise.all(Array.from({ length: 60 }, () => post(handle, body))).then(() => true)
  const parsedByTurn: number[] = []
  let before = 0
  while (!(await Promise.race([isOver, setImmediate(false)]))) {
    parsedByTurn.push(parsed - before)
    before = parsed
  }
  expect(parsed).toBe(60)
  expect(Math.max(...parsedByTurn)).toBeLessThanOrEqual(3)
})

const secret = 'sk_live_4f9a1c77'
const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('ü', 'ł', '__proto__', `a ${secret} b`))
const { small } = fc.letrec<{ small: unknown }>((tie) => ({
  small: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    texts,
    fc.constantFrom(0, true, null, undefined),
    fc.array(tie('small'), { maxLength: 4 }),
    fc.dictionary(texts, tie('small'), { maxKeys: 4 }),
  ),
}))
/** Many values, in a list of small ones or in a few that are large. */
const json = fc
  .tuple(small, fc.constantFrom([1], [300], [5_000], [2, 2_500], [300, 20], [1, 1, 4_500]), small)
  .map(([value, times, other]) =>
    times.reduce((data: unknown, many) => [...Array(many).fill(data), other], value),
  )

it('data of any shape and size is the same JSON, written in slices or at once', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const data = { value }
      expect(JSON.stringify(JSON.parse(await toJson(data)))).toBe(JSON.stringify(data))
    }),
    { numRuns: 50 },
  )
})

it('data of any shape and size holds no secret, redacted in slices or at once', async () => {
  const redactor = createRedactor([secret])
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const clean = JSON.stringify({ value }).replaceAll(secret, '[redacted]')
      expect(JSON.stringify(await redactInSlices(redactor, { value }))).toBe(clean)
      expect(JSON.stringify(redactor.data({ value }))).toBe(clean)
    }),
    { numRuns: 50 },
  )
})

it('others get their turns while much data is redacted and written', async () => {
  const data = { deep: Array(300).fill(Array(1_000).fill([secret])) }
  let turns = 0
  const work = setInterval(() => (turns += 1))
  const clean = await redactInSlices(createRedactor([secret]), data)
  const redactedAfter = turns
  await toJson(clean)
  clearInterval(work)
  expect(redactedAfter).toBeGreaterThan(1)
  expect(turns).toBeGreaterThan(redactedAfter)
})
