import { expect, it } from 'vitest'
import { readSources } from '../import-graph.ts'
import { root } from '../packages/workspace.ts'
import { findSlowPatterns } from '../patterns.ts'

it.each([
  ['of second degree', String.raw`url.replace(/\/+$/, '')`],
  ['with nested repetition', '/^(?:a+)+$/.test(text)'],
])('a pattern %s is reported', (_, code) => {
  expect(findSlowPatterns(new Map([['a.ts', code]]))).toHaveLength(1)
})

it('every pattern in the sources takes linear time', () => {
  expect(findSlowPatterns(readSources(root))).toEqual([])
}, 120_000)
