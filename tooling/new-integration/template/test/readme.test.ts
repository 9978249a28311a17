import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { prepareExamples } from '@org/tooling/readme'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { createExampleServiceProvider } from '../src/testing/index.ts'

const { blocks, compile } = await prepareExamples(join(import.meta.dirname, '..'))

const provider = createExampleServiceProvider()
const platform = createPlatformEmulator()
const hosts = new Map([
  ['api.example.com', provider.fetch],
  ['platform.example.com', platform.fetch],
])
const secret = `whsec_${btoa('a secret of twenty-four b')}`

beforeAll(() => {
  vi.stubEnv('EXAMPLE_SERVICE_API_TOKEN', 'api-token')
  vi.stubEnv('EXAMPLE_SERVICE_SHARED_API_TOKEN', 'api-token')
  vi.stubEnv('PLATFORM_WEBHOOK_SECRET', secret)
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubGlobal('fetch', (input: string | Request, init?: RequestInit) =>
    hosts.get(new URL(new Request(input).url).host)?.(input, init),
  )
})

describe('the README', () => {
  it('has examples that compile', async () => {
    expect(blocks.length).toBeGreaterThan(1)
    expect(await compile()).toBe('')
  })

  it.each(blocks)('$title runs', async ({ path, code }) => {
    const { default: host } = await import(path)
    if (!code.includes('export default')) return expect(provider.items.size).toBe(1)
    const event = { name: 'HEALTH_CHECK' }
    expect(await deliver(host.fetch, event, { secret })).toMatchObject({ body: { status: 'healthy' } })
    expect((await deliver(host.fetch, event)).status).toBe(401)
  })
})
