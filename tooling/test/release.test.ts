import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMissingChangesets } from '../release/changesets.ts'
import { readPlan } from '../release/plan.ts'

const packages = [
  { name: '@org/idp', path: 'packages/idp' },
  { name: '@org/idp-server', path: 'packages/idp-server' },
]
const changeset = (head: string) => `---\n${head}---\n\nSomething is better.\n`

describe('a branch', () => {
  it.each([
    ['changed the sources of a package', ['packages/idp/src/client.ts'], [], ['@org/idp']],
    [
      'named another package',
      ['packages/idp/src/a.ts'],
      [changeset('"@org/idp-server": patch\n')],
      ['@org/idp'],
    ],
    ['named what it changed', ['packages/idp/src/a.ts'], [changeset('"@org/idp": minor\n')], []],
    ['named it in other quotes', ['packages/idp/src/a.ts'], [changeset("'@org/idp': major\n")], []],
    [
      'named one of two',
      ['packages/idp/src/a.ts', 'packages/idp-server/src/a.ts'],
      [changeset('"@org/idp": minor\n')],
      ['@org/idp-server'],
    ],
    ['said that nobody will notice', ['packages/idp/src/a.ts'], [changeset('')], []],
    ['changed tests and documents alone', ['packages/idp/test/a.ts', 'packages/idp/README.md'], [], []],
    ['changed what is not published', ['apps/server/src/app.ts'], [], []],
  ])('that %s misses these changesets', (_, changedFiles, changesets, missing) => {
    expect(findMissingChangesets({ changedFiles, changesets, packages })).toEqual(missing)
  })
})

describe('the plan of a release', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'release-'))
    await mkdir(join(folder, 'packages'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function write(text: string): Promise<void> {
    const integrity = `sha256-${createHash('sha256').update('what was packed').digest('base64')}`
    const release = { name: '@org/core', version: '0.1.0', tag: 'latest' }
    const plan = [
      [{ ...release, kind: 'publish', tarball: { path: 'packages/core.tgz', integrity } }],
      [{ name: '@org/server', version: '0.1.0', kind: 'tag-only' }],
    ]
    await writeFile(join(folder, 'publish-plan.json'), JSON.stringify({ version: 1, plan }))
    await writeFile(join(folder, 'packages/core.tgz'), text)
  }

  it('names the tarballs that were packed', async () => {
    await write('what was packed')
    const tarball = join(folder, 'packages/core.tgz')
    expect(readPlan(folder)).toEqual([{ name: '@org/core', version: '0.1.0', tag: 'latest', tarball }])
  })

  it('is refused where a tarball was changed since', async () => {
    await write('something else')
    expect(() => readPlan(folder)).toThrow('is not the tarball that was packed')
    const publish = join(import.meta.dirname, '../release/publish.ts')
    expect(() => execFileSync(process.execPath, [publish, folder, '--dry-run'], { stdio: 'pipe' })).toThrow(
      'is not the tarball that was packed',
    )
  })
})
