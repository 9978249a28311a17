import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname
const page = readFileSync(join(root, 'docs/coverage.md'), 'utf8')
const proofs = [...page.matchAll(/^\| (.+?) \| `(.+?)` \| (.+) \|$/gm)].map(
  ([, row = '', file = '', name = '']) => ({ row, file, name }),
)

/** Whether a source has a text as a whole string, in any kind of quotes. */
function hasString(source: string, text: string): boolean {
  return ["'", '"', '`'].some((quote) => source.includes(quote + text + quote))
}

describe('docs/coverage.md', () => {
  it('has a proof in every line of its tables', () => {
    const tables = page.split('\n').filter((line) => line.startsWith('|'))
    const heads = tables.filter((line) => /^\|(---\|)+$/.test(line)).length
    expect(heads).toBeGreaterThan(5)
    expect(proofs).toHaveLength(tables.length - 2 * heads)
  })

  it.each(proofs)('names a test that exists: $row → $name', ({ file, name }) => {
    expect(existsSync(join(root, file)), `there is no ${file}`).toBe(true)
    const source = readFileSync(join(root, file), 'utf8')
    expect(hasString(source, name), `${file} has no “${name}”`).toBe(true)
  })
})
