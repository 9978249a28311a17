import { join } from 'node:path'
import { memoryStore } from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { expect } from 'vitest'
import { createPlatformApi } from '../src/testing/index.ts'

const provider = createPlatformApi()
const platform = createPlatformEmulator()
const secret = `whsec_${btoa('a secret of twenty-four b')}`

await describeReadme(join(import.meta.dirname, '..'), {
  entries: ['@org/idp-server', '@org/idp-server/webhook', '@org/idp-server/testing'],
  environment: { IDP_PLATFORM_API_KEY: 'ak_emulated', PLATFORM_WEBHOOK_SECRET: secret },
  hosts: { 'api.clerk.com': provider.fetch },
  reset() {
    provider.reset()
    provider.addApplication({ name: 'Preview of a shop' })
  },
  async run(path, code) {
    const { default: createHost, listOrphans } = await import(path)
    if (code.includes('export default')) {
      const host = createHost(connectPlatform(platform.fetch))
      platform.addDeployment({ id: 'dep_1', inputs: { applicationName: 'Shop' } })
      const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1' } }
      const answer = await deliver(host.fetch, created, { id: 'evt_1', secret })
      expect(answer).toMatchObject({ status: 200, body: { status: 'running' } })
      expect((await deliver(host.fetch, created)).status).toBe(401)
    } else if (code.includes('findOrphans')) {
      const [line] = await listOrphans(memoryStore(), connectPlatform(platform.fetch))
      expect(line).toMatch(/^app_\w+ is unrecorded\. /)
    } else {
      expect(provider.calls.length).toBeGreaterThan(0)
      expect(provider.calls.every(({ status }) => status === 200)).toBe(true)
    }
  },
})
