import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findPublishable, readManifest, root } from '../packages/workspace.ts'
import { readPlan } from '../release/publish.ts'
import { readNotes } from '../release/tag.ts'

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'release-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('the bill of materials of the host lists what its bundle contains, with versions and licenses', () => {
  const folder = createFolder()
  const options = ['--silent', 'run', 'sbom', join(folder, '%s.cdx.json')]
  execFileSync('pnpm', options, { cwd: join(root, 'tooling') })
  const { components } = JSON.parse(readFileSync(join(folder, 'org-server.cdx.json'), 'utf8'))
  const { dependencies } = readManifest(join(root, 'apps/server/package.json'))
  const purls = components.map(({ purl }: { purl: string }) => decodeURIComponent(purl))
  for (const name of Object.keys(dependencies ?? {}))
    expect(purls).toContainEqual(expect.stringMatching(new RegExp(`^pkg:npm/${name}@\\d`)))
  expect(components.every(({ licenses }: { licenses?: unknown[] }) => licenses?.length)).toBe(true)
})

it('a release publishes its tarballs, unless one changed after it was packed', () => {
  const folder = createFolder()
  const tarball = join(folder, 'core.tgz')
  writeFileSync(tarball, 'packed')
  const integrity = `sha256-${createHash('sha256').update('packed').digest('base64')}`
  const release = { name: '@org/core', version: '0.1.0', tag: 'latest' }
  const plan = [
    [{ ...release, kind: 'publish', tarball: { path: 'core.tgz', integrity } }],
    [{ name: '@org/server', version: '0.1.0', kind: 'tag-only' }],
  ]
  writeFileSync(join(folder, 'publish-plan.json'), JSON.stringify({ version: 1, plan }))
  expect(readPlan(folder)).toEqual([{ ...release, tarball }])

  writeFileSync(tarball, 'changed')
  const publish = [join(import.meta.dirname, '../release/publish.ts'), folder, '--dry-run']
  const run = () => execFileSync(process.execPath, publish, { stdio: 'pipe' })
  expect(run).toThrow('changed after it was packed')
})

it('a break in core is a break in every package, at 0.1.0 first, with a link in the changelog', () => {
  const folder = createFolder()
  const files = [...globSync('{packages,apps}/*/package.json', { cwd: root }), 'package.json', '.changeset']
  for (const file of files) cpSync(join(root, file), join(folder, file), { recursive: true })
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'packages: [packages/*, apps/*]')
  const run = (command: string, ...options: string[]) =>
    execFileSync(command, options, { cwd: folder, encoding: 'utf8' })
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@example.com']
  function commit() {
    run('git', 'add', '.')
    run('git', ...author, 'commit', '-qm', 'A change')
  }
  function release(summary: string) {
    writeFileSync(join(folder, '.changeset/only.md'), `---\n"@org/core": minor\n---\n\n${summary}\n`)
    commit()
    run(process.execPath, join(root, 'node_modules/@changesets/cli/bin.js'), 'version')
    commit()
    const versions = findPublishable().map(
      ({ path }) => readManifest(join(folder, path, 'package.json')).version,
    )
    return [...new Set(versions)]
  }
  run('git', 'init', '-qb', 'main')
  expect(release('It begins.')).toEqual(['0.1.0'])
  expect(release('An error has another name.')).toEqual(['0.2.0'])
  const changed = run('git', 'rev-parse', 'HEAD~1').slice(0, 7)
  const notes = readNotes(readFileSync(join(folder, 'packages/core/CHANGELOG.md'), 'utf8'), '0.2.0')
  expect(notes).toContain(`An error has another name. ([${changed}](https://`)
  expect(notes).not.toContain('It begins.')
})
