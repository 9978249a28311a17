import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findPublishable, root } from '../packages/workspace.ts'
import { findChangesetFaults } from '../release/check-changesets.ts'
import { readPlan } from '../release/publish.ts'
import { readNotes } from '../release/tag.ts'

it('the bill of materials of the host lists what its bundle contains, with versions and licenses', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sbom-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  execFileSync('pnpm', ['--silent', 'run', 'sbom', join(folder, '%s.cdx.json')], {
    cwd: join(root, 'tooling'),
  })
  const { components } = JSON.parse(await readFile(join(folder, 'org-server.cdx.json'), 'utf8'))
  const { dependencies } = JSON.parse(await readFile(join(root, 'apps/server/package.json'), 'utf8'))
  const purls = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl))
  for (const name of Object.keys(dependencies))
    expect(purls).toContainEqual(expect.stringMatching(new RegExp(`^pkg:npm/${name}@\\d`)))
  expect(components.every(({ licenses }: { licenses?: unknown[] }) => licenses?.length)).toBe(true)
})

const source = 'packages/idp/src/a.ts'
const changeset = (head: string) => `---\n${head}---\n\nSomething is better.\n`

it.each<[string, string[], string[], RegExp[]]>([
  ['for each changed package', [source], [changeset('"@org/idp-server": patch\n')], [/^@org\/idp changed/]],
  ['which it has', [source], [changeset('"@org/idp": minor\n')], []],
  ['which may be empty', [source], [changeset('')], []],
  ['that is one', [source], ['An idea.\n'], [/^0: .*frontmatter/, /changed/]],
  ['that releases something', [source], [changeset('"@org/idp": none\n')], [/^0: “none”.*@org\/idp/]],
  ['of a package that is there', [], [changeset('"@org/ipd": minor\n')], [/^0: .*@org\/ipd/]],
  ['for sources of published packages alone', ['packages/idp/test/a.ts', 'apps/server/src/app.ts'], [], []],
])('a branch needs a changeset %s', (_, changedFiles, added, faults) => {
  const packages = ['idp', 'idp-server'].map((name) => ({ name: `@org/${name}`, path: `packages/${name}` }))
  const changesets = Object.fromEntries(added.entries())
  const found = findChangesetFaults({ changedFiles, changesets, packages })
  expect(found).toEqual(faults.map((fault) => expect.stringMatching(fault)))
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

it('a break in core is a break in every package, at 0.1.0 first, with a link in the changelog', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'versions-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const files = [...globSync('{packages,apps}/*/package.json', { cwd: root }), 'package.json', '.changeset']
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true })
  await writeFile(join(folder, 'pnpm-workspace.yaml'), 'packages: [packages/*, apps/*]')
  const run = (command: string, ...options: string[]) =>
    execFileSync(command, options, { cwd: folder, encoding: 'utf8' })
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  const commit = () => {
    run('git', 'add', '.')
    run('git', ...author, 'commit', '-qm', 'A change')
    return run('git', 'rev-parse', 'HEAD').slice(0, 7)
  }
  async function release(summary: string) {
    await writeFile(join(folder, '.changeset/only.md'), `---\n"@org/core": minor\n---\n\n${summary}\n`)
    const changed = commit()
    run(process.execPath, join(root, 'node_modules/@changesets/cli/bin.js'), 'version')
    const manifests = findPublishable().map(({ path }) =>
      readFile(join(folder, path, 'package.json'), 'utf8'),
    )
    const versions = (await Promise.all(manifests)).map((text): string => JSON.parse(text).version)
    return { changed, versions: [...new Set(versions)] }
  }
  run('git', 'init', '-qb', 'main')
  expect(await release('It begins.')).toMatchObject({ versions: ['0.1.0'] })
  commit()
  const { versions, changed } = await release('An error has another name.')
  expect(versions).toEqual(['0.2.0'])
  const notes = readNotes(await readFile(join(folder, 'packages/core/CHANGELOG.md'), 'utf8'), '0.2.0')
  expect(notes).toContain(`An error has another name. ([${changed}](https://`)
  expect(notes).not.toContain('It begins.')
})
