import { join } from 'node:path'
import { memoryStore } from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { prepareExamples } from '@org/tooling/readme'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createPlatformApi } from '../src/testing/index.ts'

const { blocks, compile } = await prepareExamples(join(import.meta.dirname, '..'))

const provider = createPlatformApi()
const platform = createPlatformEmulator()
const secret = `whsec_${btoa('a secret of twenty-four b')}`

beforeAll(() => {
  vi.stubEnv('IDP_PLATFORM_API_KEY', 'ak_emulated')
  vi.stubEnv('PLATFORM_WEBHOOK_SECRET', secret)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubGlobal('fetch', provider.fetch)
})
beforeEach(() => {
  provider.reset()
  provider.addApplication({ name: 'Preview of a shop' })
})
afterAll(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the README', () => {
  it('has an example of each entry', () => {
    const code = blocks.map((block) => block.code).join()
    for (const entry of ['@org/idp-server', '@org/idp-server/webhook', '@org/idp-server/testing']) {
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
      it(`${title} provisions`, async () => {
        const { default: createHost } = await import(path)
        const host = createHost(connectPlatform(platform.fetch))
        platform.addDeployment({ id: 'dep_1', inputs: { applicationName: 'Shop' } })
        const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1' } }
        expect(await deliver(host.fetch, created, { id: 'evt_1', secret })).toMatchObject({
          status: 200,
          body: { status: 'running' },
        })
        expect((await deliver(host.fetch, created)).status).toBe(401)
      })
    } else if (code.includes('findOrphans')) {
      it(`${title} finds an application of nobody`, async () => {
        const { listOrphans } = await import(path)
        const [line] = await listOrphans(memoryStore(), connectPlatform(platform.fetch))
        expect(line).toMatch(/^app_\w+ is unrecorded\. /)
      })
    } else {
      it(`${title} runs`, async () => {
        await import(path)
        expect(provider.calls.length).toBeGreaterThan(0)
        expect(provider.calls.every(({ status }) => status === 200)).toBe(true)
      })
    }
  }
})
