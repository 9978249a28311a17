import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { prepareExamples } from '@org/tooling/readme'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const { blocks, compile } = await prepareExamples(join(import.meta.dirname, '..'), [
  'README.md',
  '../../README.md',
])

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
  vi.stubGlobal('fetch', (input: string | Request, init?: RequestInit) =>
    hosts.get(new URL(new Request(input).url).host)?.(input, init),
  )
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
    for (const entry of ['@org/mailer', '@org/mailer/webhook', '@org/mailer/events', '@org/mailer/testing']) {
      expect(code).toContain(`from '${entry}'`)
    }
  })

  it('has examples that compile', { timeout: 30_000 }, async () => {
    expect(await compile()).toBe('')
  })

  for (const { title, path, code } of blocks) {
    if (code.includes("from 'vitest'")) {
      // The example’s tests become tests of this file.
      describe(title, async () => void (await import(path)))
    } else if (code.includes('parseMailEvent')) {
      it(`${title} reads an event of the provider`, async () => {
        const { POST } = await import(path)
        const body = JSON.stringify({ RecordType: 'Bounce', Email: 'a@b.c', Inactive: true })
        const response = await POST(new Request('https://shop.example', { method: 'POST', body }))
        expect(response.status).toBe(204)
      })
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
