import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import { createPlaceholderHandler } from '../src/webhook.ts'

const platform = createPlatformEmulator()
const handle = createPlaceholderHandler({
  platform: connectPlatform(platform.fetch),
  logger: () => {},
  fetch: async () => expect.fail('the placeholder has nobody to call'),
})

it('the placeholder answers a challenge', async () => {
  expect(await deliver(handle, { name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' })).toMatchObject({
    status: 200,
    body: { challenge: 'c_1' },
  })
  expect((await deliver(handle, { name: 'WEBHOOK_CHALLENGE' })).body).toEqual({ status: 'ok' })
})

it('the placeholder is healthy, for who gets an answer knows that it is there', async () => {
  const { status, body } = await deliver(handle, { name: 'HEALTH_CHECK' })
  expect([status, body]).toEqual([200, { status: 'healthy', checks: [] }])
})

it.each(['METRIC_UPDATE', 'DEPLOYMENT_CREATED', 'DEPLOYMENT_DELETED', 'DOWNLOAD_STARTED', 'FUNCTION_CALL'])(
  'the placeholder ignores %s, says so, and tells the platform nothing',
  async (name) => {
    platform.addDeployment({ id: 'dep_1' })
    const event = { name, deployment: { id: 'dep_1' }, functionCall: { name: 'createUser' } }
    const { status, body } = await deliver(handle, event, { id: 'evt_1' })
    expect([status, body]).toEqual([200, { status: 'ignored', reason: `/auth does not act on ${name}.` }])
    expect(platform.calls).toEqual([])
  },
)

it('the placeholder refuses what is no event', async () => {
  expect(await deliver(handle, { name: 'HEALTHCHECK' })).toMatchObject({
    status: 400,
    body: { code: 'invalid_event', detail: expect.stringContaining('HEALTH_CHECK') },
  })
})
