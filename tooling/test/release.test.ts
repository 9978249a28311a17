import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../packages/workspace.ts'
import { findMissingChangesets } from '../release/check-changesets.ts'
import { readPlan } from '../release/publish.ts'

it('the bill of materials of the host lists what its bundle contains, with versions and licenses', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sbom-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  execFileSync('pnpm', ['--silent', 'run', 'release:sbom', join(folder, '%s.cdx.json')], { cwd: root })
  const { components } = JSON.parse(await readFile(join(folder, 'org-server.cdx.json'), 'utf8'))
  const { dependencies } = JSON.parse(await readFile(join(root, 'apps/server/package.json'), 'utf8'))
  const purls = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl))
  for (const name of Object.keys(dependencies))
    expect(purls).toContainEqual(expect.stringMatching(new RegExp(`^pkg:npm/${name}@\\d`)))
  expect(components.every(({ licenses }: { licenses?: unknown[] }) => licenses?.length)).toBe(true)
})

describe('a branch needs a changeset', () => {
  const packages = ['idp', 'idp-server'].map((name) => ({ name: `@org/${name}`, path: `packages/${name}` }))
  const source = 'packages/idp/src/a.ts'
  const changeset = (head: string) => `---\n${head}---\n\nSomething is better.\n`

  it.each([
    ['for a changed package', [source], [], ['@org/idp']],
    ['that names the package', [source], [changeset('"@org/idp-server": patch\n')], ['@org/idp']],
    [
      'for each of two packages',
      [source, 'packages/idp-server/src/a.ts'],
      [changeset('"@org/idp": minor\n')],
      ['@org/idp-server'],
    ],
    ['which it has', [source], [changeset('"@org/idp": minor\n')], []],
    ['which it has in other quotes', [source], [changeset("'@org/idp': major\n")], []],
    ['which may be empty', [source], [changeset('')], []],
    ['only for sources', ['packages/idp/test/a.ts', 'packages/idp/README.md'], [], []],
    ['only for published packages', ['apps/server/src/app.ts'], [], []],
  ])('%s', (_, changedFiles, changesets, missing) => {
    expect(findMissingChangesets({ changedFiles, changesets, packages })).toEqual(missing)
  })
})

it('a release publishes its tarballs, unless one changed after it was packed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'release-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const tarball = join(folder, 'core.tgz')
  await writeFile(tarball, 'packed')
  const integrity = `sha256-${createHash('sha256').update('packed').digest('base64')}`
  const release = { name: '@org/core', version: '0.1.0', tag: 'latest' }
  const plan = [
    [{ ...release, kind: 'publish', tarball: { path: 'core.tgz', integrity } }],
    [{ name: '@org/server', version: '0.1.0', kind: 'tag-only' }],
  ]
  await writeFile(join(folder, 'publish-plan.json'), JSON.stringify({ version: 1, plan }))
  expect(readPlan(folder)).toEqual([{ ...release, tarball }])

  await writeFile(tarball, 'changed')
  const publish = join(import.meta.dirname, '../release/publish.ts')
  expect(() => execFileSync(process.execPath, [publish, folder, '--dry-run'], { stdio: 'pipe' })).toThrow(
    'changed after it was packed',
  )
})
