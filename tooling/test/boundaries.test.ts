import { describe, expect, it } from 'vitest'
import { findViolations } from '../boundaries.ts'
import { readImports, readSources } from '../import-graph.ts'

const root = new URL('../..', import.meta.url).pathname
const sources = readSources(root)

/** The repository as it is, with one file changed. */
function violationsWith(file: string, text: string): string[] {
  return findViolations(readImports(new Map([...sources, [file, text]])))
}

describe('the arrows between packages', () => {
  it('are all kept', () => {
    expect(sources.size).toBeGreaterThan(40)
    expect(findViolations(readImports(sources))).toEqual([])
  })

  it.each([
    ['an integration that imports another', 'packages/mailer/src/wire.ts', "import '@org/idp/webhook'"],
    [
      'an integration that imports the platform client',
      'packages/idp/src/webhook.ts',
      "import '@org/platform-client'",
    ],
    [
      'a package that needs Node',
      'packages/mailer/src/wire.ts',
      "import { readFile } from 'node:fs/promises'",
    ],
    [
      'a package other than the platform client that imports ky',
      'packages/core/src/act.ts',
      "import ky from 'ky'",
    ],
    [
      'a dependency that nobody declared an arrow for',
      'packages/core/src/act.ts',
      "export { x } from 'lodash/fp'",
    ],
    [
      'core importing an integration',
      'packages/core/src/act.ts',
      "const { x } = await import('@org/mailer')",
    ],
    ['the server importing past a webhook entry', 'apps/server/src/app.ts', "import '@org/mailer'"],
    ['an emulator in a package’s own source', 'packages/mailer/src/wire.ts', "import './testing/index.ts'"],
  ])('report %s', (_, file, text) => {
    expect(violationsWith(file, text)).toContainEqual(expect.stringContaining(`${file} must not import`))
  })
})

describe('the entry of the mail SDK', () => {
  it.each([
    ['the webhook', "import '../src/webhook.ts'", 'packages/mailer/src/webhook.ts'],
    ['zod, also by its types alone', "import type { ZodType } from 'zod'", 'zod'],
    ['the contract', "export * from './integration.ts'", 'packages/mailer/src/integration.ts'],
  ])('is reported where it loads %s', (_, text, loaded) => {
    expect(violationsWith('packages/mailer/src/client.ts', text)).toContainEqual(
      expect.stringContaining(`packages/mailer/src/index.ts must not load ${loaded}`),
    )
  })
})
