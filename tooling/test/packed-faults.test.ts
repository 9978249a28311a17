import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFaults } from '../packages/faults.ts'
import type { PackedPackage } from '../packages/pack.ts'
import type { Manifest } from '../packages/workspace.ts'

const manifest: Manifest = {
  name: '@org/example',
  version: '1.0.0',
  exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
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
  'dist/index.d.ts': "export type { ZodType } from 'zod'",
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'packed-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** A package without faults, with these changes. */
async function faultsWith(
  changes: Partial<Manifest>,
  files: Readonly<Record<string, string | undefined>> = {},
): Promise<string[]> {
  const present = Object.entries({ ...contents, ...files }).flatMap(([file, text]) =>
    text === undefined ? [] : [{ file, text }],
  )
  for (const { file, text } of present) {
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  const packed: PackedPackage = {
    name: manifest.name,
    tarball: '',
    folder,
    files: present.map(({ file }) => file),
    manifest: { ...manifest, ...changes },
  }
  return findFaults(packed)
}

describe('a packed package', () => {
  it('without faults has none', async () => {
    expect(await faultsWith({})).toEqual([])
  })

  it.each<[string, Partial<Manifest>, Record<string, string | undefined>, string]>([
    ['a workspace range', { dependencies: { '@org/core': 'workspace:^' } }, {}, 'dependencies.@org/core is'],
    ['a catalog range', { peerDependencies: { zod: 'catalog:' } }, {}, 'peerDependencies.zod is “catalog:”'],
    [
      'the source condition',
      { exports: { '.': { '@org/source': './dist/index.js', default: './dist/index.js' } } },
      {},
      'exports still have the condition @org/source',
    ],
    ['a target that is missing', {}, { 'dist/index.d.ts': undefined }, 'exports["."].types is'],
    ['no exports', { exports: {} }, {}, 'there are no exports'],
    ['no README', {}, { 'README.md': undefined }, 'README.md is missing'],
    ['no changelog after its first release', {}, { 'CHANGELOG.md': undefined }, 'CHANGELOG.md is missing'],
    ['a test', {}, { 'test/index.test.ts': '' }, 'test/index.test.ts should not be published'],
    ['data', {}, { '.data/readme/block-1.ts': '' }, '.data/readme/block-1.ts should not be published'],
    ['sources', {}, { 'src/index.ts': '' }, 'src/index.ts should not be published'],
    ['a source map', {}, { 'dist/index.js.map': '' }, 'dist/index.js.map should not be published'],
    [
      'an import of what only its tests have',
      {},
      { 'dist/testing.js': "import { it } from 'vitest'" },
      'dist/testing.js imports “vitest”',
    ],
    [
      'a type of what it does not depend on',
      {},
      { 'dist/redis.d.ts': "import type { Redis } from 'ioredis'" },
      'dist/redis.d.ts imports “ioredis”',
    ],
    [
      'a built-in without its prefix',
      {},
      { 'dist/sqlite.js': "import { DatabaseSync } from 'sqlite'" },
      'dist/sqlite.js imports “sqlite”',
    ],
  ])('is reported where it has %s', async (_, changes, files, fault) => {
    expect(await faultsWith(changes, files)).toEqual([expect.stringContaining(fault)])
  })

  it('needs no changelog before its first release', async () => {
    expect(await faultsWith({ version: '0.0.0' }, { 'CHANGELOG.md': undefined })).toEqual([])
  })
})
