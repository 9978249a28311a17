import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scaffold } from '../new-integration/scaffold.ts'
import { readManifest, root } from '../packages/workspace.ts'

// The template is a package of this repository, so its own tests run with all others. These tests are about its copy.
let repository: string
const hostFiles = ['apps/server/src/integrations.ts', 'apps/server/package.json']
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'repository-'))
  for (const path of ['tooling/new-integration/template', ...hostFiles]) {
    const filter = (source: string) => !/\/(node_modules|dist|\.data|\.turbo)$|\.bundled_/.test(source)
    cpSync(join(root, path), join(repository, path), { recursive: true, filter })
  }
  mkdirSync(join(repository, 'packages/mailer'), { recursive: true })
  mkdirSync(join(repository, '.changeset'))
})
afterEach(() => rmSync(repository, { recursive: true, force: true }))

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const linesOf = (file: string) => read(file).split('\n')

it.each([[[]], [['sms-gateway', 'zip-codes']]])(
  'after %j, one more integration is added by one line in two files of the host',
  (others) => {
    for (const other of others) scaffold(repository, other)
    const before = hostFiles.map(linesOf)
    const written = scaffold(repository, 'carrier-pigeon-2')
    for (const file of written) expect(read(file), file).not.toMatch(/example.?service/i)
    const manifest = readManifest(join(repository, 'packages/carrier-pigeon-2/package.json'))
    expect(manifest).toMatchObject({ name: '@org/carrier-pigeon-2', version: '0.0.0' })
    expect(manifest).not.toHaveProperty('private')
    expect(read('packages/carrier-pigeon-2/src/index.ts')).toContain('createCarrierPigeon2Client')
    expect(read('.changeset/carrier-pigeon-2.md')).toContain('"@org/carrier-pigeon-2": minor')
    const outside = written.filter((file) => !/carrier-pigeon-2/.test(file))
    expect(outside).toEqual(hostFiles)
    const after = hostFiles.map(linesOf)
    const added = after.flatMap((lines, at) => lines.filter((line) => !before[at]?.includes(line)))
    expect(added).toEqual([
      "  { name: 'carrier-pigeon-2', load: () => import('@org/carrier-pigeon-2/webhook') },",
      '    "@org/carrier-pigeon-2": "workspace:*",',
    ])
    expect(before.flatMap((lines, at) => lines.filter((line) => !after[at]?.includes(line)))).toEqual([])
  },
)

it.each([
  ['mailer', 'is taken'],
  ['bench', 'is taken'],
  ['class', 'Unexpected'],
  ['../mailer', 'not a valid name'],
])('the name “%s” is refused, and nothing is written', (name, reason) => {
  const before = hostFiles.map(read)
  expect(() => scaffold(repository, name)).toThrow(reason)
  expect([hostFiles.map(read), readdirSync(join(repository, '.changeset'))]).toEqual([before, []])
})
