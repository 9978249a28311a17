import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findFaults } from '../packages/faults.ts'
import type { Manifest } from '../packages/workspace.ts'

const valid: Manifest = {
  name: '@org/example',
  version: '1.0.0',
  exports: { '.': { require: './dist/index.cjs', default: './dist/index.js' } },
  dependencies: { '@org/core': '^1.0.0' },
  peerDependencies: { zod: '^4.4.0' },
}
const contents: Readonly<Record<string, string>> = {
  'package.json': '{}',
  'README.md': '',
  LICENSE: '',
  'CHANGELOG.md': '',
  'dist/index.js': "import '@org/core/http'\nimport './chunk-A1B2C3D4.js'\nawait import('node:http')",
  'dist/chunk-A1B2C3D4.js': '',
  'dist/index.js.map': '{ "sources": ["../src/index.ts"] }',
  'dist/index.cjs': '',
  'dist/index.d.ts': "export type { ZodType } from 'zod'",
  'dist/index.d.cts': '',
  'src/index.ts': '',
}

const folder = mkdtempSync(join(tmpdir(), 'packed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Changes {
  manifest?: Partial<Manifest>
  add?: Record<string, string>
  remove?: string
}

function faultsWith({ manifest = {}, add = {}, remove = '' }: Changes): string[] {
  const texts = Object.entries({ ...contents, ...add }).filter(([file]) => file !== remove)
  for (const [file, text] of texts) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const files = texts.map(([file]) => file)
  return findFaults({ name: valid.name, tarball: '', folder, files, manifest: { ...valid, ...manifest } })
}

describe('a packed package', () => {
  it('is accepted, without a changelog before its first release', () => {
    expect(faultsWith({})).toEqual([])
    expect(faultsWith({ manifest: { version: '0.0.0' }, remove: 'CHANGELOG.md' })).toEqual([])
  })

  const source = { '.': { '@org/source': './src/index.ts' } }
  it.each<[string, Changes]>([
    [
      'dependencies.@org/core is “workspace:^”',
      { manifest: { dependencies: { '@org/core': 'workspace:^' } } },
    ],
    ['peerDependencies.zod is “catalog:”', { manifest: { peerDependencies: { zod: 'catalog:' } } }],
    ['exports still have the condition @org/source', { manifest: { exports: source } }],
    ['README.md is missing', { remove: 'README.md' }],
    ['CHANGELOG.md is missing', { remove: 'CHANGELOG.md' }],
    ['test/a.test.ts should not be published', { add: { 'test/a.test.ts': '' } }],
    [
      'dist/index.d.cts.map should not be published',
      { add: { 'dist/index.d.cts.map': '{ "sources": [] }' } },
    ],
    ['dist/index.js.map leads to src/index.ts, which is missing', { remove: 'src/index.ts' }],
    ['dist/a.js imports “vitest”', { add: { 'dist/a.js': "import { it } from 'vitest'" } }],
    ['dist/a.d.ts imports “ioredis”', { add: { 'dist/a.d.ts': "import type { Redis } from 'ioredis'" } }],
  ])('is refused because %s', (fault, changes) => {
    expect(faultsWith(changes)).toContainEqual(expect.stringContaining(fault))
  })
})
