/** What operators read of a delivery. The route is tested in `apps/server/test/deliveries.test.ts`. */
import { memoryStore } from '@org/core'
import { type Json, readDeliveryStatus } from '@org/core/hosting'
import { deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import { clock, created, createHost, greeter, token } from './fixtures.ts'

const id = 'evt_1'
const leaseMs = 60_000

/** A store with a clock, and the status of the delivery `evt_1`. */
function createFixture() {
  const { now, pass } = clock(Date.UTC(2026, 10, 20, 9))
  const store = memoryStore({ now })
  return {
    ...{ now, pass, store },
    async claim(subject: string, steps: Record<string, Json>, deliveryId = id) {
      const result = await store.claim({ subject, delivery: { id: deliveryId, digest: 'd' }, leaseMs })
      if (result.state !== 'claimed') throw new Error(result.state)
      await store.advance(result.lease, steps)
      return result.lease
    },
    status: (deploymentId?: string) =>
      readDeliveryStatus({ store, integrations: [greeter], deliveryId: id, deploymentId, now }),
  }
}

it.each<[string, number, Record<string, Json>, boolean]>([
  ['in_progress', leaseMs - 1, {}, false],
  ['abandoned', leaseMs, {}, false],
  ['released', 0, {}, true],
  ['outcome_unknown', leaseMs, { '@intent': true }, false],
])('a call is %s after %i ms; no encrypted value and no mail address is shown', async (...row) => {
  const [state, afterMs, intent, isReleased] = row
  const { claim, pass, status, store } = createFixture()
  expect(await status()).toEqual([])
  const given = {
    ...{ 'call 0': 'encrypted:AAAA', 'call 1': 'begun', 'call 2': null, list: ['a@example.com'] },
    ...{ 'to ada@example.com': 'for bob@example.com', count: 3 },
  }
  const lease = await claim(`greeter/delivery/${id}`, { ...given, ...intent })
  if (isReleased) await store.release(lease)
  pass(afterMs)
  const times = { claimedAt: '2026-11-20T09:00:00.000Z', keptUntil: '2026-11-27T09:00:00.000Z' }
  const leaseEndsAt = state === 'in_progress' ? '2026-11-20T09:01:00.000Z' : undefined
  const steps = [
    { name: 'call 0', state: 'recorded' },
    { name: 'call 1', state: 'begun' },
    { name: 'call 2', state: 'taken_back' },
    { name: 'list', state: 'recorded' },
    { name: 'to [address]', state: 'recorded', value: 'for [address]' },
    { name: 'count', state: 'recorded', value: 3 },
  ]
  const call = { route: 'greeter', subject: 'call', state, claims: 1, ...times, leaseEndsAt, steps }
  expect(await status()).toEqual([call])
})

it('a deployment event has the public outputs among its steps, and its response, also while another delivery works on it', async () => {
  const { claim, now, store, status } = createFixture()
  await deliver(createHost({ store, now }).handle, created, { id })
  await claim('greeter/deployment/dep_1', { account: { token, region: 'eu', owner: 'Ada' } }, 'evt_2')
  const response = { status: 200, at: '2026-11-20T09:00:00.000Z' }
  const steps = [{ name: 'account', state: 'recorded', value: { region: 'eu' } }]
  const found = await status('dep_1')
  const done = { subject: 'deployment', state: 'done', claims: 2, claimedAt: undefined, response, steps }
  expect(found).toMatchObject([done])
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`Ada|${token}`))
})
