import { join } from 'node:path'
import { createPlatformEmulator, deliver } from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { expect } from 'vitest'
import { createMailProvider } from '../src/testing/index.ts'

const provider = createMailProvider()
const secret = `whsec_${btoa('a secret of twenty-four b')}`

await describeReadme(join(import.meta.dirname, '..'), {
  files: ['README.md', '../../README.md', '../../docs/from-postmark.md'],
  entries: ['@org/mailer', '@org/mailer/webhook', '@org/mailer/events', '@org/mailer/testing'],
  environment: {
    MAILER_API_TOKEN: 'server-token',
    MAILER_SHARED_API_TOKEN: 'server-token',
    PLATFORM_WEBHOOK_SECRET: secret,
  },
  hosts: { 'api.postmarkapp.com': provider.fetch, 'platform.example.com': createPlatformEmulator().fetch },
  reset: provider.reset,
  async run(path, code) {
    const { default: host, POST } = await import(path)
    if (code.includes('parseMailEvent')) {
      const body = JSON.stringify({ RecordType: 'Bounce', Email: 'a@b.c', Inactive: true })
      const response = await POST(new Request('https://shop.example', { method: 'POST', body }))
      expect(response.status).toBe(204)
    } else if (code.includes('export default')) {
      const event = { name: 'HEALTH_CHECK' }
      const answer = await deliver(host.fetch, event, { id: 'evt_1', secret })
      expect(answer).toMatchObject({ status: 200, body: { status: 'healthy' } })
      expect((await deliver(host.fetch, event)).status).toBe(401)
    } else {
      expect(provider.messages.length).toBeGreaterThan(0)
      expect(provider.calls.every(({ status }) => status === 200)).toBe(true)
    }
  },
})
