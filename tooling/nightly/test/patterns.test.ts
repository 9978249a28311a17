import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../packages/workspace.ts'
import { findSlowPatterns } from '../../patterns.ts'

it.each([
  ['of second degree', String.raw`url.replace(/\/+$/, '')`],
  ['with nested repetition', '/^(?:a+)+$/.test(text)'],
])('a pattern %s is reported', (_, code) => {
  expect(findSlowPatterns(new Map([['a.ts', code]]))).toHaveLength(1)
})

// The sandbox reads what its own user typed, and its patterns take most of the time of this test.
const files = globSync('{packages/*,apps/server}/src/**/*.ts', { cwd: root })
const shipped = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

it('every pattern of the packages and the host takes linear time', () => {
  expect(findSlowPatterns(shipped)).toEqual([])
}, 120_000)
