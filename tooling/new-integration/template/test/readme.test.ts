import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { expect } from 'vitest'
import { createExampleServiceProvider } from '../src/testing/index.ts'

const provider = createExampleServiceProvider()
const secret = `whsec_${btoa('a secret of twenty-four b')}`

await describeReadme(join(import.meta.dirname, '..'), {
  environment: {
    EXAMPLE_SERVICE_API_TOKEN: 'api-token',
    EXAMPLE_SERVICE_SHARED_API_TOKEN: 'api-token',
    PLATFORM_WEBHOOK_SECRET: secret,
  },
  hosts: { 'api.example.com': provider.fetch, 'platform.example.com': createPlatformEmulator().fetch },
  async run(path, code) {
    const { default: host } = await import(path)
    if (!code.includes('export default')) return expect(provider.items.size).toBe(1)
    const event = { name: 'HEALTH_CHECK' }
    expect(await deliver(host.fetch, event, { secret })).toMatchObject({ body: { status: 'healthy' } })
    expect((await deliver(host.fetch, event)).status).toBe(401)
  },
})
