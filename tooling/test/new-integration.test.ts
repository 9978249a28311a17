import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { formsOf, rename } from '../new-integration/names.ts'
import { scaffold } from '../new-integration/scaffold.ts'
import { readManifest, root } from '../packages/workspace.ts'

// The template is a package of this repository, and compiled, linted and tested like all; what is left is its renaming.
let repository: string
beforeEach(() => {
  repository = mkdtempSync(join(tmpdir(), 'repository-'))
  const needed = [
    'tooling/new-integration/template',
    'apps/server/src/integrations.ts',
    'apps/server/package.json',
  ]
  for (const path of [...needed, 'biome.json']) {
    const filter = (source: string) => !/\/(node_modules|dist|\.data|\.turbo)$/.test(source)
    cpSync(join(root, path), join(repository, path), { recursive: true, filter })
  }
  mkdirSync(join(repository, 'packages/mailer'), { recursive: true })
})
afterEach(() => rmSync(repository, { recursive: true, force: true }))

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const serverFiles = ['apps/server/src/integrations.ts', 'apps/server/package.json']

describe('pnpm new:integration', () => {
  it('makes a package that has nothing of the template’s name left', () => {
    const written = scaffold(repository, 'only-for-a-test')
    expect(written).toContain('packages/only-for-a-test/src/integration.ts')
    for (const file of written) expect(read(file), file).not.toMatch(/example.?service/i)
    expect(read('packages/only-for-a-test/src/integration.ts')).toContain("name: 'only-for-a-test'")
    expect(read('packages/only-for-a-test/src/index.ts')).toContain('createOnlyForATestClient')
  })

  it('makes a package that is published, with a changeset for its first version', () => {
    scaffold(repository, 'only-for-a-test')
    const manifest = readManifest(join(repository, 'packages/only-for-a-test/package.json'))
    expect(manifest).toMatchObject({ name: '@org/only-for-a-test', version: '0.0.0' })
    expect(manifest).not.toHaveProperty('private')
    expect(read('.changeset/first-only-for-a-test.md')).toContain('"@org/only-for-a-test": minor')
  })

  it('mounts it on the host by two lines, and changes nothing else there', () => {
    const before = serverFiles.map((file) => read(file).split('\n'))
    scaffold(repository, 'only-for-a-test')
    const added = serverFiles.map((file, at) =>
      read(file)
        .split('\n')
        .filter((line) => !before[at]?.includes(line)),
    )
    expect(added).toEqual([
      [
        "import { createHandler as createOnlyForATestHandler, integration as onlyForATest } from '@org/only-for-a-test/webhook'",
        '  { definition: onlyForATest, createHandler: createOnlyForATestHandler },',
      ],
      ['    "@org/only-for-a-test": "workspace:*",'],
    ])
    for (const [at, file] of serverFiles.entries()) {
      expect(before[at]?.filter((line) => !read(file).split('\n').includes(line))).toEqual([])
    }
  })

  it('writes what the formatter and the linter accept, once they sorted the imports', () => {
    const files = scaffold(repository, 'only-for-a-test').filter((file) => /\.(ts|json)$/.test(file))
    const biome = (...options: string[]) =>
      execFileSync(
        join(root, 'node_modules/.bin/biome'),
        ['check', '--vcs-enabled=false', ...options, ...files],
        {
          cwd: repository,
          stdio: 'pipe',
        },
      )
    expect(() => biome('--write')).not.toThrow()
    expect(() => biome('--error-on-warnings')).not.toThrow()
  })

  it.each([
    ['mailer', 'There is a “mailer” already'],
    ['auth', 'There is a “auth” already'],
    ['example-service', 'There is a “example-service” already'],
    ['Sms', 'is no name for an integration'],
    ['sms_gateway', 'is no name for an integration'],
    ['../mailer', 'is no name for an integration'],
    ['', 'is no name for an integration'],
    ['new', 'means something'],
    ['config', 'means something'],
  ])('refuses the name “%s”, and writes nothing', (name, reason) => {
    const before = serverFiles.map(read)
    expect(() => scaffold(repository, name)).toThrow(reason)
    expect(serverFiles.map(read)).toEqual(before)
    expect(existsSync(join(repository, '.changeset'))).toBe(false)
  })
})

describe('a name', () => {
  it('has a form for each place where it is written', () => {
    expect(formsOf('sms-gateway-2')).toEqual({
      kebab: 'sms-gateway-2',
      camel: 'smsGateway2',
      pascal: 'SmsGateway2',
      constant: 'SMS_GATEWAY_2',
      title: 'Sms gateway 2',
      words: 'sms gateway 2',
    })
    const text =
      'example-service exampleService createExampleService EXAMPLE_SERVICE_KEY Example service example service'
    expect(rename(text, formsOf('sms'))).toBe('sms sms createSms SMS_KEY Sms sms')
  })
})
