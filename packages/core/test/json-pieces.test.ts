import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createJsonCounter } from '../src/json-limits.ts'
import { parseInPieces } from '../src/json-pieces.ts'

/** As the host parses a long body, with a cut wherever one is possible. */
async function inPieces(json: Uint8Array): Promise<unknown> {
  const counter = createJsonCounter({ pieceBytes: 1 })
  if (counter.add(json)) return 'beyond a limit'
  return parseInPieces(json, counter.cuts, () => undefined)
}

function whole(json: Uint8Array): unknown {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json))
}

const outcome = async (parse: () => unknown) => {
  try {
    return { value: await parse() }
  } catch (error) {
    return error instanceof Error ? (/position \d+/.exec(error.message)?.[0] ?? 'invalid') : error
  }
}

// Without a lone backslash: V8 takes the key `\"` for `\\`, if another object had that one at its place.
const names = fc.constantFrom('a', 'b', '1', '0', '__proto__', 'a"b', 'ü', '')
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(0, -1.5, true, null, '', ',', ']},"', 'ü', '\u2028', '😀'),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('json')), { maxLength: 4 }).map((entries) => new Map(entries)),
  ),
}))

/** Not JSON.stringify, which never writes a name twice, and sorts some of them. */
function write(value: unknown, space: string): string {
  const list = (items: string[]) => items.join(`${space},${space}`)
  if (Array.isArray(value)) return `[${list(value.map((item) => write(item, space)))}]`
  if (!(value instanceof Map)) return JSON.stringify(value)
  const pairs = [...value].map(([name, item]) => `${JSON.stringify(name)}${space}:${write(item, space)}`)
  return `{${list([...pairs, ...pairs.slice(0, 1)])}}`
}

describe('A JSON text that is parsed in pieces', () => {
  it('has the value that it has as a whole', async () => {
    await fc.assert(
      fc.asyncProperty(json, fc.constantFrom('', ' ', '\n\t'), async (value, space) => {
        const text = new TextEncoder().encode(write(value, space))
        expect(await inPieces(text)).toStrictEqual(whole(text))
      }),
    )
  })

  it('is refused exactly where it is refused as a whole', async () => {
    const change = fc.tuple(
      fc.nat(),
      fc.constantFrom('', ',', ']', '}', '[', '{', '"', ':', '0', '\ufeff', ' '),
    )
    await fc.assert(
      fc.asyncProperty(json, change, async (value, [at, by]) => {
        const valid = write(value, '')
        const place = at % (valid.length + 1)
        const text = new TextEncoder().encode(valid.slice(0, place) + by + valid.slice(place + 1))
        expect(await outcome(() => inPieces(text))).toEqual(await outcome(() => whole(text)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is refused if a piece is not UTF-8', async () => {
    await expect(inPieces(Uint8Array.from([0x5b, 0x30, 0x2c, 0x22, 0xff, 0x22, 0x5d]))).rejects.toThrow(
      TypeError,
    )
  })
})
