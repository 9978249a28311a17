import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { scaffold } from '../new-integration/scaffold.ts'
import { readManifest, root } from '../packages/workspace.ts'

// The template is a package of this repository, so its own tests run with all others. These tests are about its copy.
let repository: string
const hostFiles = [
  'apps/server/src/integrations.ts',
  'apps/server/src/config.ts',
  'apps/server/src/variables.ts',
  'apps/server/package.json',
  'apps/sandbox/src/world/samples.ts',
  'apps/sandbox/package.json',
  'README.md',
]
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

it('a new integration is added to the host and to the sandbox, which changes no other line', () => {
  const before = hostFiles.map(linesOf)
  const written = scaffold(repository, 'carrier-pigeon-2')
  for (const file of written) expect(read(file), file).not.toMatch(/example.?service/i)
  const manifest = readManifest(join(repository, 'packages/carrier-pigeon-2/package.json'))
  expect(manifest).toMatchObject({ name: '@org/carrier-pigeon-2', version: '0.0.0' })
  expect(manifest).not.toHaveProperty('private')
  expect(read('packages/carrier-pigeon-2/src/index.ts')).toContain('createCarrierPigeon2Client')
  expect(read('.changeset/carrier-pigeon-2.md')).toContain('"@org/carrier-pigeon-2": minor')
  const after = hostFiles.map(linesOf)
  const added = after.flatMap((lines, at) => lines.filter((line) => !before[at]?.includes(line)))
  for (const line of added.filter((line) => !/^ {2,4}[{}],?$/.test(line)))
    expect(line).toMatch(/carrier.?pigeon.?2/i)
  expect(added).toContain('  CARRIER_PIGEON_2_SHARED_API_TOKEN: z.optional(token()),')
  expect(before.flatMap((lines, at) => lines.filter((line) => !after[at]?.includes(line)))).toEqual([])
})

it.each([
  ['mailer', 'is taken'],
  ['auth', 'is taken'],
  ['Sms_gateway', 'not a valid name'],
  ['../mailer', 'not a valid name'],
  ['class', 'already uses class'],
  ['item', 'already uses createItem'],
  ['provider', 'already uses createExampleServiceProvider'],
  ['idp-platform', 'already uses IDP_PLATFORM_API_KEY'],
])('the name “%s” is refused, and nothing is written', (name, reason) => {
  const before = hostFiles.map(read)
  expect(() => scaffold(repository, name)).toThrow(reason)
  expect([hostFiles.map(read), readdirSync(join(repository, '.changeset'))]).toEqual([before, []])
})
