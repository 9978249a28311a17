import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../../packages/workspace.ts'

const notCopied = new Set(['node_modules', 'dist', '.data', '.turbo', '.git', 'coverage'])
const copy = mkdtempSync(join(tmpdir(), 'repository-'))
const MINUTES = 60_000

/** Runs a command in a folder of the copy, and fails with what it printed. */
function run(folder: string, command: string, options: string[]): string {
  try {
    return execFileSync(command, options, { cwd: join(copy, folder), stdio: 'pipe', encoding: 'utf8' })
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error)
    return expect.fail(`${command} ${options.join(' ')} in ${folder}:\n${(stdout + stderr).slice(-4_000)}`)
  }
}

beforeAll(() => {
  // A build of another task writes a bundled configuration for a moment, which may be gone when it is copied.
  const filter = (path: string) => !notCopied.has(basename(path)) && !path.includes('.bundled_')
  cpSync(root, copy, { recursive: true, filter })
  run('.', 'pnpm', ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only'])
  // It formats and lints what it writes, and fails if a fault is left.
  run('.', 'node', ['tooling/new-integration/main.ts', 'carrier-pigeon'])
  const include = ['src/integrations.ts', 'src/config.ts', '../sandbox/src/world/samples.ts']
  writeFileSync(
    join(copy, 'apps/server/tsconfig.some.json'),
    JSON.stringify({ extends: './tsconfig.json', include }),
  )
}, 5 * MINUTES)
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const hostTests = '^(the.configuration|a.reference|each.field|patterns|an.event.of.every.kind)'

// The package is the template with another name, whose types and tests are a task of their own. Here is what can notice
// that there is one integration more.
it.each([
  ['unused code', '.', 'knip --no-progress'],
  ['the types', 'apps/server', 'tsc -p tsconfig.some.json --checkers 1'],
  [
    'the configuration, the forms and the document of the host',
    'apps/server',
    `vitest run test/config test/forms test/contract -t ${hostTests}`,
  ],
  ['the walks of the sandbox', 'apps/sandbox', 'vitest run test/walk.test.ts -t ^the.walk'],
  [
    'the rules of the repository',
    'tooling',
    'vitest run test/import-rules.test.ts test/public-names.test.ts',
  ],
])(
  'a new integration leaves %s green',
  (_, folder, command) => {
    const [program = '', ...options] = command.split(' ')
    const output = run(folder, join(copy, folder, 'node_modules/.bin', program), options)
    // A pattern that no test has would pass.
    if (program === 'vitest') expect(stripVTControlCharacters(output)).toMatch(/Test Files {2}\d+ passed \(/)
  },
  5 * MINUTES,
)
