import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { prepareExamples } from '@org/tooling/readme'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'

const { blocks, compile } = await prepareExamples(join(import.meta.dirname, '..'))

const backend = createBackendApi()
const platform = createPlatformEmulator()
const hosts = new Map([
  ['api.clerk.com', backend.fetch],
  ['platform.example.com', platform.fetch],
])
const secret = `whsec_${btoa('a secret of twenty-four b')}`

beforeAll(() => {
  vi.stubEnv('IDP_SECRET_KEY', backend.instance.secretKey)
  vi.stubEnv('IDP_SHARED_SECRET_KEY', backend.instance.secretKey)
  vi.stubEnv('IDP_SHARED_PUBLISHABLE_KEY', backend.instance.publishableKey)
  vi.stubEnv('PLATFORM_WEBHOOK_SECRET', secret)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubGlobal('fetch', (input: string | Request, init?: RequestInit) =>
    hosts.get(new URL(new Request(input).url).host)?.(input, init),
  )
})
beforeEach(() => backend.reset())
afterAll(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the README', () => {
  it('has an example of each entry that users import', () => {
    const code = blocks.map((block) => block.code).join()
    for (const entry of ['@org/idp', '@org/idp/webhook', '@org/idp/testing']) {
      expect(code).toContain(`from '${entry}'`)
    }
  })

  it('has examples that compile', { timeout: 30_000 }, async () => {
    expect(await compile()).toBe('')
  })

  for (const { title, path, code } of blocks) {
    if (code.includes("from 'vitest'")) {
      // The example’s tests run in this file.
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
      it(`${title} creates a user`, async () => {
        await import(path)
        expect(backend.users.size).toBe(1)
        expect(backend.calls.every(({ status }) => status === 200)).toBe(true)
      })
    }
  }
})
