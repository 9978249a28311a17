import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const home = join(import.meta.dirname, '..')
// Ignored by version control and formatter; within the package, so that it can import itself by name.
const folder = join(home, '.data/readme')

const readme = await readFile(join(home, 'README.md'), 'utf8')
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], index) => ({
  title: `block ${index + 1}: ${code.split('\n').find((line) => !line.startsWith('import')) || code.slice(0, 60)}`,
  path: join(folder, `block-${index + 1}.ts`),
  code,
}))

await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
await writeFile(join(folder, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "include": ["*.ts"] }')
for (const { path, code } of blocks) await writeFile(path, code)

const provider = createMailProvider()
const platform = createPlatformEmulator()
const hosts = new Map([
  ['api.postmarkapp.com', provider.fetch],
  ['platform.example.com', platform.fetch],
])
const secret = `whsec_${btoa('a secret of twenty-four b')}`

beforeAll(() => {
  vi.stubEnv('MAILER_API_TOKEN', 'server-token')
  vi.stubEnv('MAILER_SHARED_API_TOKEN', 'server-token')
  vi.stubEnv('PLATFORM_WEBHOOK_SECRET', secret)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubGlobal('fetch', (input: Request) => hosts.get(new URL(input.url).host)?.(input))
})
beforeEach(() => provider.reset())
afterAll(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the README', () => {
  it('has an example of each entry', () => {
    const code = blocks.map((block) => block.code).join()
    for (const entry of ['@org/mailer', '@org/mailer/webhook', '@org/mailer/testing']) {
      expect(code).toContain(`from '${entry}'`)
    }
  })

  it('has examples that compile', { timeout: 30_000 }, async () => {
    const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
    const compile = promisify(execFile)(process.execPath, [join(typescript, 'bin/tsc'), '-p', folder])
    const output = await compile.then(
      () => '',
      (error: unknown) =>
        error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error),
    )
    expect(output).toBe('')
  })

  for (const { title, path, code } of blocks) {
    if (code.includes("from 'vitest'")) {
      // Its tests become tests of this file.
      describe(title, async () => void (await import(path)))
    } else if (code.includes('export default')) {
      it(`${title} answers events`, async () => {
        const { default: host } = await import(path)
        expect(await deliver(host.fetch, { name: 'HEALTH_CHECK' }, { id: 'evt_1', secret })).toMatchObject({
          status: 200,
          body: { status: 'healthy' },
        })
        expect((await deliver(host.fetch, { name: 'HEALTH_CHECK' })).status).toBe(401)
      })
    } else {
      it(`${title} sends mail`, async () => {
        await import(path)
        expect(provider.messages.length).toBeGreaterThan(0)
        expect(provider.calls.every(({ status }) => status === 200)).toBe(true)
      })
    }
  }
})
