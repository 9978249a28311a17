import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { scaffold } from '../new-integration/scaffold.ts'
import { readManifest, root } from '../packages/workspace.ts'

// The template is a package of this repository, so its own tests run with all others. These tests are about its copy.
let repository: string
const serverFiles = ['apps/server/src/integrations.ts', 'apps/server/package.json']
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'repository-'))
  for (const path of ['tooling/new-integration/template', ...serverFiles, 'biome.json']) {
    const filter = (source: string) => !/\/(node_modules|dist|\.data|\.turbo)$/.test(source)
    cpSync(join(root, path), join(repository, path), { recursive: true, filter })
  }
  mkdirSync(join(repository, 'packages/mailer'), { recursive: true })
})
afterEach(() => rmSync(repository, { recursive: true, force: true }))

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const linesOf = (file: string) => read(file).split('\n')

describe('pnpm new:integration', () => {
  it('makes a public package with a changeset, in which nothing has the template’s name', () => {
    const written = scaffold(repository, 'sms-gateway-2')
    for (const file of written) expect(read(file), file).not.toMatch(/example.?service/i)
    const manifest = readManifest(join(repository, 'packages/sms-gateway-2/package.json'))
    expect(manifest).toMatchObject({ name: '@org/sms-gateway-2', version: '0.0.0' })
    expect(manifest).not.toHaveProperty('private')
    expect(read('packages/sms-gateway-2/src/integration.ts')).toContain("name: 'sms-gateway-2'")
    expect(read('packages/sms-gateway-2/src/index.ts')).toContain('createSmsGateway2Client')
    expect(read('packages/sms-gateway-2/src/connection.ts')).toContain('SMS_GATEWAY_2_SHARED_API_TOKEN')
    expect(read('packages/sms-gateway-2/src/index.ts')).toContain(' * Sms gateway 2.')
    expect(read('.changeset/first-sms-gateway-2.md')).toContain('"@org/sms-gateway-2": minor')
  })

  it('mounts the package on the host with three lines, and changes no other line', () => {
    const before = serverFiles.map(linesOf)
    scaffold(repository, 'sms-gateway')
    const after = serverFiles.map(linesOf)
    expect(after.flatMap((lines, at) => lines.filter((line) => !before[at]?.includes(line)))).toEqual([
      "import { createHandler as createSmsGatewayHandler, integration as smsGateway } from '@org/sms-gateway/webhook'",
      '  { definition: smsGateway, createHandler: createSmsGatewayHandler },',
      '    "@org/sms-gateway": "workspace:*",',
    ])
    expect(before.flatMap((lines, at) => lines.filter((line) => !after[at]?.includes(line)))).toEqual([])
  })

  it('writes files that pass the linter after formatting', () => {
    const files = scaffold(repository, 'sms-gateway').filter((file) => /\.(ts|json)$/.test(file))
    const biome = (...options: string[]) => {
      const command = ['check', '--vcs-enabled=false', ...options, ...files]
      return execFileSync(join(root, 'node_modules/.bin/biome'), command, { cwd: repository, stdio: 'pipe' })
    }
    expect(() => biome('--write')).not.toThrow()
    expect(() => biome('--error-on-warnings')).not.toThrow()
  })

  it.each([
    ['mailer', 'is taken'],
    ['auth', 'is taken'],
    ['Sms_gateway', 'not a valid name'],
    ['../mailer', 'not a valid name'],
    ['', 'not a valid name'],
    ['new', 'already uses new'],
    ['config', 'already uses config'],
  ])('refuses the name “%s”, and writes nothing', (name, reason) => {
    const before = serverFiles.map(read)
    expect(() => scaffold(repository, name)).toThrow(reason)
    expect(serverFiles.map(read)).toEqual(before)
    expect(existsSync(join(repository, '.changeset'))).toBe(false)
  })
})
