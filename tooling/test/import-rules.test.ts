import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cruise, type ICruiseResult } from 'dependency-cruiser'
import { expect, it, onTestFinished } from 'vitest'
import { forbidden, options } from '../import-rules.ts'
import { root } from '../packages/workspace.ts'

/** Every import that breaks a rule, as “rule: from → to”. */
async function findViolations(baseDir: string): Promise<{ modules: number; violations: string[] }> {
  const folders = globSync('{packages,apps}/*/src', { cwd: baseDir })
  const { output } = await cruise(folders, {
    ...options,
    baseDir,
    validate: true,
    ruleSet: { forbidden },
  })
  const { modules, summary }: ICruiseResult = typeof output === 'string' ? JSON.parse(output) : output
  return {
    modules: modules.length,
    violations: summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  }
}

it('every file imports only what it may, and no files load each other', async () => {
  const { modules, violations } = await findViolations(root)
  expect(modules).toBeGreaterThan(200)
  expect(violations).toEqual([])
})

it('an import that breaks a rule is reported, however it is written, also on a detour', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = {
    'packages/mailer/src/wire.ts': "import '@org/idp/webhook'",
    'packages/idp/src/webhook.ts': "import type { X } from '@org/platform-client'",
    'packages/mailer/src/address.ts': "await import('node:fs/promises')",
    'packages/core/src/http/attempt.ts': "export { x } from 'ky'",
    'packages/idp/src/index.ts': "import './between.ts'",
    'packages/idp/src/between.ts': "import './webhook.ts'",
    'packages/mailer/src/index.ts': "import './between.ts'",
    'packages/mailer/src/between.ts': "import 'zod'",
    'packages/idp/src/wire.ts': "import './client.ts'",
    'packages/idp/src/client.ts': '',
    'apps/server/src/app.ts': "import 'ky'\nimport '../../../packages/mailer/src/index.ts'",
    'apps/server/src/runtimes/worker.ts': "import './undici.ts'",
    'apps/server/src/runtimes/undici.ts': "import 'undici'",
    'packages/core/src/contract/event.ts': "import '../pipeline/webhook.ts'",
    'packages/core/src/pipeline/webhook.ts': "import '../contract/form.ts'",
    'packages/core/src/contract/form.ts': '',
    'packages/core/src/errors.ts': "import './contract/form.ts'",
    'packages/core/src/request/read.ts': "import '../testing/index.ts'",
    'packages/core/src/testing/index.ts': "import '../pipeline/webhook.ts'",
    'packages/platform-client/package.json': '{ "devDependencies": { "ky": "2" } }',
    'packages/platform-client/src/client.ts': "import 'ky'",
    'packages/platform-client/node_modules/ky/index.js': '',
    'packages/idp/src/keys.ts': "import '../../core/src/host.ts'",
    'packages/core/src/host.ts': '',
    'packages/mailer/src/one.ts': "import './two.ts'",
    'packages/mailer/src/two.ts': "import './one.ts'",
  }
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const { violations } = await findViolations(folder)
  expect(violations.sort()).toEqual(
    [
      'circle: packages/mailer/src/one.ts → packages/mailer/src/two.ts',
      'core: packages/core/src/http/attempt.ts → ky',
      'core-contract: packages/core/src/contract/event.ts → packages/core/src/pipeline/webhook.ts',
      'core-request: packages/core/src/request/read.ts → packages/core/src/testing/index.ts',
      'core-root: packages/core/src/errors.ts → packages/core/src/contract/form.ts',
      'emulators: packages/core/src/request/read.ts → packages/core/src/testing/index.ts',
      'package: packages/idp/src/webhook.ts → @org/platform-client',
      'package: packages/idp/src/keys.ts → packages/core/src/host.ts',
      'package: packages/mailer/src/address.ts → fs/promises',
      'package: packages/mailer/src/wire.ts → @org/idp/webhook',
      'sdk-without-webhook: packages/idp/src/index.ts → packages/idp/src/webhook.ts',
      'sdk-without-zod: packages/mailer/src/index.ts → zod',
      'server: apps/server/src/app.ts → ky',
      'server: apps/server/src/app.ts → packages/mailer/src/index.ts',
      'undeclared: packages/platform-client/src/client.ts → packages/platform-client/node_modules/ky/index.js',
      'wire: packages/idp/src/wire.ts → packages/idp/src/client.ts',
      'worker: apps/server/src/runtimes/worker.ts → undici',
    ].sort(),
  )
})
