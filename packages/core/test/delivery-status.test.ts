/** What operators read of a delivery. The route is tested in `apps/server/test/deliveries.test.ts`. */
import { IntegrationError, memoryStore } from '@org/core'
import { type Json, readDeliveryStatus } from '@org/core/hosting'
import { deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import { clock, created, createHost, failing, greet, greeter, token } from './fixtures.ts'

const id = 'evt_1'
const leaseMs = 60_000
const call = `greeter/delivery/${id}`

/** A store with a clock, a host on it, and the status of the delivery `evt_1`. */
function createFixture(provider?: Parameters<typeof createHost>[0]) {
  const { now, pass } = clock(Date.UTC(2026, 10, 20, 9))
  const store = memoryStore({ now })
  return {
    store,
    pass,
    host: createHost({ store, now, ...provider }),
    async claim(subject: string, steps: Record<string, Json> = {}, deliveryId = id) {
      const result = await store.claim({ subject, delivery: { id: deliveryId, digest: 'd' }, leaseMs })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.advance(result.lease, steps)
      return result.lease
    },
    status: (deploymentId?: string) =>
      readDeliveryStatus({ store, integrations: [greeter], deliveryId: id, deploymentId, now }),
  }
}

const steps = {
  'call 0': 'encrypted:AAAA',
  'call 1': 'begun',
  'call 2': null,
  list: ['a@example.com'],
  'to ada@example.com': 'for bob@example.com',
  count: 3,
}

it.each<[string, number, Record<string, Json>, boolean]>([
  ['in_progress', leaseMs - 1, steps, false],
  ['abandoned', leaseMs, steps, false],
  ['released', 0, steps, true],
  ['outcome_unknown', leaseMs, { ...steps, '@intent': true }, false],
])('a call is %s after %i ms; no encrypted value and no mail address is shown', async (...row) => {
  const [state, afterMs, recorded, isReleased] = row
  const { claim, pass, status, store } = createFixture()
  expect(await status()).toEqual([])
  const lease = await claim(call, recorded)
  if (isReleased) await store.release(lease)
  pass(afterMs)
  expect(await status()).toEqual([
    {
      route: 'greeter',
      subject: 'call',
      state,
      claims: 1,
      claimedAt: '2026-11-20T09:00:00.000Z',
      leaseEndsAt: state === 'in_progress' ? '2026-11-20T09:01:00.000Z' : undefined,
      steps: [
        { name: 'call 0', state: 'recorded' },
        { name: 'call 1', state: 'begun' },
        { name: 'call 2', state: 'taken_back' },
        { name: 'list', state: 'recorded' },
        { name: 'to [address]', state: 'recorded', value: 'for [address]' },
        { name: 'count', state: 'recorded', value: 3 },
      ],
      keptUntil: '2026-11-27T09:00:00.000Z',
    },
  ])
})

it('a call that is done has the status, the code and the time of its response, but not its text', async () => {
  const provider = failing(new IntegrationError('provider_rejected', 'No greeting for Ada.'))
  const { host, status } = createFixture({ provider })
  await deliver(host.handle, greet, { id })
  const response = { status: 422, code: 'provider_rejected', at: '2026-11-20T09:00:00.000Z' }
  const found = await status()
  expect(found).toMatchObject([{ state: 'done', response }])
  expect(JSON.stringify(found)).not.toContain('Ada')
})

it('a deployment event has what is known of the deployment, also while another delivery works on it', async () => {
  const { claim, host, status } = createFixture()
  await deliver(host.handle, { ...created, timestamp: '2026-11-20T08:00:00Z' }, { id })
  await claim('greeter/deployment/dep_1', { account: { token, region: 'eu', owner: 'Ada' } }, 'evt_2')
  const life = { deleted: false, lastStatus: 'running', lastEventAt: '2026-11-20T08:00:00.000Z' }
  const done = { subject: 'deployment', state: 'done', claims: 2, response: { status: 200 }, life }
  // Of an object, only the public outputs are shown.
  const steps = [{ name: 'account', state: 'recorded', value: { region: 'eu' } }]
  const [found] = await status('dep_1')
  expect(found).toMatchObject({ ...done, steps })
  expect(found).not.toHaveProperty('claimedAt')
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`Ada|${token}`))
})
