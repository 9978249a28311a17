/** Redeliveries and concurrent deliveries, as far as the random lives in `lives/` do not show them. */
import { IntegrationError, memoryStore } from '@org/core'
import { type DeliveryResponse, deliver } from '@org/core/testing'
import { expect, it } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
  failing,
  greet,
  slowProvider,
} from './fixtures.ts'

const id = 'evt_1'
const DAY_MS = 24 * 60 * 60 * 1000

const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'

it.each([
  [created, { status: 'running', outputs: { region: 'eu' } }],
  [deleted, { status: 'stopped' }],
])(
  'a redelivery of $name gets the response without secret outputs, and repeats the status',
  async (event, body) => {
    const host = createHost()
    await deliver(host.handle, event, { id })
    host.platform.calls.length = 0
    const again = await deliver(host.handle, event, { id })
    expect([again.status, isReplay(again), again.body]).toEqual([200, true, body])
    // What got lost heals.
    expect(host.writes()).toEqual([`PUT /deployments/dep_1/status ${body.status}`])
  },
)

it('a redelivery after a final failure gets the same problem', async () => {
  const host = createHost({ provider: failing(new IntegrationError('provider_rejected', 'No such person.')) })
  const first = await deliver(host.handle, greet, { id })
  const again = await deliver(host.handle, greet, { id })
  expect([again.status, isReplay(again), again.body]).toEqual([422, true, first.body])
  expect(again.headers.get('content-type')).toBe('application/problem+json')
})

it.each([greet, created, deleted])('a response to $name is recorded for seven days', async (event) => {
  const { now, pass } = clock()
  const host = createHost({ now, store: memoryStore({ now }) })
  const replays = []
  for (const milliseconds of [0, 7 * DAY_MS - 1, 1]) {
    pass(milliseconds)
    replays.push(isReplay(await deliver(host.handle, event, { id })))
  }
  expect(replays).toEqual([false, true, false])
})

it('a delivery during the work on its deployment is told to come back, whatever its id; reads are not', async () => {
  const { provider, begun, finish } = slowProvider()
  const host = createHost({ provider })
  const first = deliver(host.handle, created, { id })
  await begun
  for (const [event, other] of [
    [created, id],
    [created, 'evt_2'],
    [deleted, undefined],
  ] as const) {
    const { status, body, headers } = await deliver(host.handle, event, { id: other })
    expect([status, body]).toMatchObject([409, { code: 'delivery_in_progress', retryable: true }])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect((await deliver(host.handle, { name: 'DOWNLOAD_STARTED', deployment })).status).toBe(200)
  finish()
  expect((await first).status).toBe(200)
})

it('every call without an id, of a function that only reads, or on another route is a new one', async () => {
  const store = memoryStore()
  const [host, other] = [createHost({ store }), createHost({ store, route: 'greeter-server' })]
  for (const _ of [1, 2]) {
    expect(isReplay(await deliver(host.handle, greet))).toBe(false)
    expect(isReplay(await deliver(host.handle, calling('count'), { id }))).toBe(false)
  }
  for (const { handle } of [host, other]) expect(isReplay(await deliver(handle, greet, { id }))).toBe(false)
  expect(host.providerCalls).toHaveLength(5)
})
