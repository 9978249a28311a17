import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { expect } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'

const backend = createBackendApi()
const { publishableKey, secretKey } = backend.instance
const secret = `whsec_${btoa('a secret of twenty-four b')}`

await describeReadme(join(import.meta.dirname, '..'), {
  entries: ['@org/idp', '@org/idp/webhook', '@org/idp/testing'],
  environment: {
    IDP_SECRET_KEY: secretKey,
    IDP_SHARED_SECRET_KEY: secretKey,
    IDP_SHARED_PUBLISHABLE_KEY: publishableKey,
    PLATFORM_WEBHOOK_SECRET: secret,
  },
  hosts: { 'api.clerk.com': backend.fetch, 'platform.example.com': createPlatformEmulator().fetch },
  reset: backend.reset,
  async run(path, code) {
    const { default: host } = await import(path)
    if (code.includes('export default')) {
      const event = { name: 'HEALTH_CHECK' }
      const answer = await deliver(host.fetch, event, { id: 'evt_1', secret })
      expect(answer).toMatchObject({ status: 200, body: { status: 'healthy' } })
      expect((await deliver(host.fetch, event)).status).toBe(401)
    } else {
      expect(backend.users.size).toBe(1)
      expect(backend.calls.every(({ status }) => status === 200)).toBe(true)
    }
  },
})
