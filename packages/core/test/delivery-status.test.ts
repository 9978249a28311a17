/** The status of a delivery for operators, and its settlement. The routes are tested in `apps/server/test/deliveries.test.ts`. */
import { type HandlerContext, IntegrationError, memoryStore } from '@org/core'
import { type Json, readDeliveryStatus, settleDelivery } from '@org/core/hosting'
import { deliver } from '@org/core/testing'
import { beforeEach, expect, it } from 'vitest'
import { created, createHost, greet, greeter, type ProviderCall, token } from './fixtures.ts'

const deliveryId = 'evt_1'
const leaseMs = 60_000
let time: number
const now = () => time
let store: ReturnType<typeof memoryStore>
beforeEach(() => {
  time = Date.UTC(2026, 10, 20, 9)
  store = memoryStore({ now })
})

async function claim(subject: string, steps: Record<string, Json>, id = deliveryId) {
  const result = await store.claim({ subject, delivery: { id, digest: 'd' }, leaseMs })
  if (result.state !== 'claimed') throw new Error(result.state)
  await store.advance(result.lease, steps)
  return result.lease
}

const status = (deploymentId?: string) =>
  readDeliveryStatus({ store, integrations: [greeter], deliveryId, deploymentId, now })

it.each([
  ['in_progress', leaseMs - 1, {}],
  ['abandoned', leaseMs, {}],
  ['released', 0, {}],
  ['outcome_unknown', leaseMs, { '@intent': true }],
])('a call is %s after %i ms; no encrypted value and no mail address is shown', async (...row) => {
  const [state, afterMs, intent] = row
  expect(await status()).toEqual([])
  const lease = await claim(`greeter/delivery/${deliveryId}`, {
    ...{ 'call 0': 'encrypted:AAAA', 'call 1': 'begun', 'call 2': null, list: ['a@example.com'] },
    ...{ 'to ada@example.com': 'for bob@example.com', count: 3 },
    ...intent,
  })
  if (state === 'released') await store.release(lease)
  time += afterMs
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
  await deliver(createHost({ store, now }).handle, created, { id: deliveryId })
  await claim('greeter/deployment/dep_1', { account: { token, region: 'eu', owner: 'Ada' } }, 'evt_2')
  const response = { status: 200, at: '2026-11-20T09:00:00.000Z' }
  const steps = [{ name: 'account', state: 'recorded', value: { region: 'eu' } }]
  const found = await status('dep_1')
  const done = { subject: 'deployment', state: 'done', claims: 2, claimedAt: undefined, response, steps }
  expect(found).toMatchObject([done])
  expect(JSON.stringify(found)).not.toMatch(new RegExp(`Ada|${token}`))
})

it.each([
  [[], undefined],
  [['call 0'], 'must be not_sent: nobody knows how much of it began'],
])(
  'a call of unknown outcome that recorded the steps %j is settled as “sent”, or refused: %s',
  async (...row) => {
    const [steps, refusal] = row
    async function provider(_: ProviderCall, { progress }: HandlerContext) {
      for (const step of steps) await progress?.write(step, 'begun')
      throw new IntegrationError('outcome_unknown', 'The connection broke.')
    }
    await deliver(createHost({ store, now, provider }).handle, greet, { id: deliveryId })
    const { sendGreeting } = greeter.functions
    const sends = {
      ...greeter,
      functions: { sendGreeting: { ...sendGreeting, settled: () => ({ id: 'found' }) } },
    }
    const given = { route: 'greeter', outcome: 'sent' }
    const settled = settleDelivery(store, [sends], deliveryId, given)
    const errors = [{ path: 'outcome', message: refusal }]
    await (refusal
      ? expect(settled).rejects.toMatchObject({ code: 'invalid_arguments', errors })
      : expect(settled).resolves.toEqual(given))
  },
)
