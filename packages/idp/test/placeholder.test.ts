import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import { createPlaceholderHandler } from '../src/webhook.ts'

const platform = createPlatformEmulator()
const handle = createPlaceholderHandler({
  platform: connectPlatform(platform.fetch),
  logger: () => {},
  fetch: async () => expect.fail('The placeholder has nobody to call.'),
})

it.each([
  [{ name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' }, { challenge: 'c_1' }],
  [{ name: 'WEBHOOK_CHALLENGE' }, { status: 'ok' }],
  [{ name: 'HEALTH_CHECK' }, { status: 'healthy', checks: [] }],
])('the placeholder answers %j', async (event, expected) => {
  const { status, body } = await deliver(handle, event)
  expect([status, body]).toEqual([200, expected])
})

it.each(['METRIC_UPDATE', 'DEPLOYMENT_CREATED', 'DEPLOYMENT_DELETED', 'DOWNLOAD_STARTED', 'FUNCTION_CALL'])(
  'the placeholder ignores %s, and calls the platform never',
  async (name) => {
    platform.addDeployment({ id: 'dep_1' })
    const event = { name, deployment: { id: 'dep_1' }, functionCall: { name: 'createUser' } }
    const { status, body } = await deliver(handle, event, { id: 'evt_1' })
    expect([status, body]).toMatchObject([200, { status: 'ignored', reason: expect.stringContaining(name) }])
    expect(platform.calls).toEqual([])
  },
)

it('the placeholder refuses an unknown event', async () => {
  expect(await deliver(handle, { name: 'HEALTHCHECK' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_event', detail: expect.stringContaining('HEALTH_CHECK') },
  })
})
