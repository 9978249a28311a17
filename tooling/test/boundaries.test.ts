import { describe, expect, it } from 'vitest'
import { findViolations } from '../boundaries.ts'
import { readImports, readSources } from '../import-graph.ts'
import { root } from '../packages/workspace.ts'

const sources = readSources(root)
const manifests = [...sources].filter(([file]) => file.endsWith('package.json'))

/** The violations of these files, beside the `package.json` files of the repository. */
const violationsOf = (files: Record<string, string>) =>
  findViolations(readImports(new Map([...manifests, ...Object.entries(files)])))

it('every file imports only what it may, and no files load each other', () => {
  expect(sources.size).toBeGreaterThan(40)
  expect(findViolations(readImports(sources))).toEqual([])
})

describe('an import is reported', () => {
  it.each([
    ['between integrations', 'packages/mailer/src/wire.ts', '@org/idp/webhook'],
    ['of the platform client by an integration', 'packages/idp/src/webhook.ts', '@org/platform-client'],
    ['of a Node built-in by a package', 'packages/mailer/src/wire.ts', 'node:fs/promises'],
    ['of ky by another package than the platform client', 'packages/core/src/http/client.ts', 'ky'],
    ['of ky by the server', 'apps/server/src/app.ts', 'ky'],
    ['of zod by an index', 'packages/idp/src/index.ts', 'zod'],
    ['of an undeclared dependency', 'packages/core/src/http/client.ts', 'lodash/fp'],
    ['of an integration by core', 'packages/core/src/http/client.ts', '@org/mailer'],
    ['of an integration’s SDK by the server', 'apps/server/src/app.ts', '@org/mailer'],
  ])('%s', (_, file, specifier) => {
    for (const text of [
      `import '${specifier}'`,
      `export { x } from '${specifier}'`,
      `import type { X } from '${specifier}'`,
      `await import('${specifier}')`,
    ])
      expect(violationsOf({ [file]: text })).toEqual([`${file} must not import “${specifier}”`])
  })
})

describe('a file that is loaded on a detour is reported', () => {
  it.each([
    ['zod', 'by the mailer’s SDK', 'packages/mailer/src/index.ts', 'zod'],
    ['the webhook', 'by an SDK', 'packages/idp/src/index.ts', './webhook.ts'],
    ['the client', 'by the wire format', 'packages/idp/src/wire.ts', './client.ts'],
    ['an emulator', 'by a package’s own source', 'packages/idp/src/client.ts', './testing/index.ts'],
    ['the Node server', 'by the Workers entry', 'apps/server/src/worker.ts', '@hono/node-server'],
  ])('%s %s', (_, __, file, specifier) => {
    const between = file.replace(/[\w-]+\.ts$/, 'between.ts')
    expect(
      violationsOf({ [file]: "import './between.ts'", [between]: `import '${specifier}'` }),
    ).toContainEqual(expect.stringContaining(`${file} must not load`))
  })
})

describe('in the folders of core', () => {
  const violationsOfCore = (file: string, specifier: string) =>
    violationsOf({ [`packages/core/src/${file}`]: `import '${specifier}'` })

  it.each([
    ['pipeline/webhook.ts', '../delivery/claim.ts'],
    ['delivery/stores/sqlite.ts', '../store.ts'],
    ['http/client.ts', '../contract/platform.ts'],
    ['request/read.ts', '../errors.ts'],
    ['testing/serve.ts', '../pipeline/webhook.ts'],
    ['index.ts', './pipeline/webhook.ts'],
  ])('%s may import %s', (file, specifier) => {
    expect(violationsOfCore(file, specifier)).toEqual([])
  })

  it.each([
    ['contract/event.ts', '../pipeline/webhook.ts'],
    ['http/client.ts', '../request/read.ts'],
    ['errors.ts', './contract/event.ts'],
    ['request/read.ts', '../testing/index.ts'],
    ['request/read.ts', '../other.ts'],
    ['other/read.ts', '../errors.ts'],
    ['other.ts', './errors.ts'],
  ])('%s may not import %s', (file, specifier) => {
    expect(violationsOfCore(file, specifier)).toContainEqual(
      expect.stringContaining(`packages/core/src/${file}`),
    )
  })
})

it.each([
  ['two files', { 'one.ts': './two.ts', 'two.ts': './one.ts' }],
  ['two folders', { 'a/one.ts': '../b/one.ts', 'b/two.ts': '../a/two.ts' }],
])('reports %s that load each other', (_, imports) => {
  const files = Object.entries(imports).map(([file, specifier]) => [
    `apps/server/src/${file}`,
    `import '${specifier}'`,
  ])
  expect(violationsOf(Object.fromEntries(files))).toContainEqual(
    expect.stringContaining('these load each other'),
  )
})
