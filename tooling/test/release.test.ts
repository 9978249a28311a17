import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

it('packages and the host have versions of their own: a break in core leaves a patch of the mailer a patch', () => {
  const folder = createFolder()
  const put = (path: string, text: string) => writeFileSync(join(folder, path), text)
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const run = (command: string, ...options: string[]) =>
    execFileSync(command, options, { cwd: folder, encoding: 'utf8' })
  function commit() {
    run('git', 'add', '.')
    run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'A change')
  }
  function release(changes: Readonly<Record<string, string>>) {
    for (const [name, text] of Object.entries(changes)) put(`.changeset/${name}.md`, text)
    commit()
    run(process.execPath, join(root, 'node_modules/@changesets/cli/bin.js'), 'version')
    commit()
    return packages.map(({ name, path }) => `${name} ${JSON.parse(read(`${path}/package.json`)).version}`)
  }
  const packages = findPublishable()
  for (const { path, manifest } of packages) {
    mkdirSync(join(folder, path), { recursive: true })
    put(`${path}/package.json`, JSON.stringify({ ...manifest, version: '0.1.0' }))
  }
  const unpublished = globSync('{apps/*,bench,tooling,tooling/openapi}/package.json', { cwd: root })
  const others = ['package.json', 'pnpm-workspace.yaml', '.changeset/config.json', '.changeset/changelog.mjs']
  for (const file of [...unpublished, ...others]) cpSync(join(root, file), join(folder, file))
  run('git', 'init', '-qb', 'main')

  const core = '---\n"@org/core": minor\n---\n\nAn error has another name.'
  const mailer = '---\n"@org/mailer": patch\n---\n\nA header is folded.'
  const patched = packages.map(({ name }) => `${name} ${name === '@org/mailer' ? '0.1.1' : '0.1.0'}`)
  expect(release({ mailer })).toEqual(patched)
  // The others depend on ^0.1.0, which 0.2.0 is not.
  const versions: Readonly<Record<string, string>> = { '@org/core': '0.2.0', '@org/mailer': '0.1.2' }
  const broken = packages.map(({ name }) => `${name} ${versions[name] ?? '0.1.1'}`)
  expect(release({ core, mailer: mailer.replace('folded', 'shorter') })).toEqual(broken)

  const changed = run('git', 'rev-parse', 'HEAD~1').slice(0, 7)
  const notes = readNotes(read('packages/mailer/CHANGELOG.md'), '0.1.2')
  expect(notes).toContain(`A header is shorter. ([${changed}](https://`)
  expect(notes).toContain('Updated @org/core@0.2.0.')
  expect(notes).not.toMatch(/folded|another name/)
  expect(read('apps/server/CHANGELOG.md')).toMatch(
    /## 0\.0\.2\n\n.*Updated @org\/core@0\.2\.0, .*## 0\.0\.1\n/s,
  )
  expect(unpublished.filter((file) => read(file).includes('"version": "0.0.1"'))).toEqual([])
})

it.each(findPublishable())('npm publishes no folder of $name, whose ranges exist only here', ({ path }) => {
  const publish = () =>
    execFileSync('npm', ['publish', '--dry-run'], { cwd: join(root, path), stdio: 'pipe' })
  expect(publish).toThrow('A package is published by pnpm release')
})
