import { IntegrationError, memoryStore } from '@org/core'
import { type DeliveryResponse, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
  failing,
  greet,
  type Host,
  slowProvider,
  token,
} from './fixtures.ts'

const id = 'evt_1'
const DAY_MS = 24 * 60 * 60 * 1000

const actions = ({ providerCalls }: Host) => providerCalls.map(({ action }) => action)
const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'

describe('a redelivery', () => {
  it.each([
    [created, { status: 'running', outputs: { region: 'eu' } }],
    [deleted, { status: 'stopped' }],
  ])(
    'of $name gets the recorded response without secret outputs, and repeats the last status',
    async (event, body) => {
      const host = createHost()
      await deliver(host.handle, event, { id })
      host.platform.calls.length = 0
      const again = await deliver(host.handle, event, { id })
      expect([again.status, isReplay(again), again.body]).toEqual([200, true, body])
      expect(host.writes()).toEqual([`PUT /deployments/dep_1/status ${body.status}`])
      expect(host.providerCalls).toHaveLength(1)
    },
  )

  it.each([greet, created, deleted])('of $name gets the recorded response for seven days', async (event) => {
    const { now, pass } = clock()
    const host = createHost({ now, store: memoryStore({ now }) })
    const replays = []
    for (const milliseconds of [0, 7 * DAY_MS - 1, 1]) {
      pass(milliseconds)
      replays.push(isReplay(await deliver(host.handle, event, { id })))
    }
    expect(replays).toEqual([false, true, false])
  })

  it.each([greet, created])('of the final failure of $name gets the same problem', async (event) => {
    const provider = failing(new IntegrationError('provider_rejected', 'No such person.'))
    const host = createHost({ provider })
    const first = await deliver(host.handle, event, { id })
    const again = await deliver(host.handle, event, { id })
    expect([again.status, again.body, isReplay(again)]).toEqual([422, first.body, true])
    expect(again.headers.get('content-type')).toBe('application/problem+json')
    expect(actions(host)).toHaveLength(1)
  })

  it.each([greet, created, deleted])('of the retryable failure of $name runs again', async (event) => {
    const host = createHost({ provider: failing(new IntegrationError('provider_error', 'It is away.'), 1) })
    expect((await deliver(host.handle, event, { id })).status).toBe(502)
    const again = await deliver(host.handle, event, { id })
    expect([again.status, isReplay(again), actions(host).length]).toEqual([200, false, 2])
  })
})

describe('a delivery during another one', () => {
  it('with the same id is answered delivery_in_progress, and with the recorded response later', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const first = deliver(host.handle, greet, { id })
    await begun
    const second = await deliver(host.handle, greet, { id })
    expect(second).toMatchObject({ status: 409, body: { code: 'delivery_in_progress', retryable: true } })
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    finish()
    expect((await first).status).toBe(200)
    expect(isReplay(await deliver(host.handle, greet, { id }))).toBe(true)
  })

  it('waits for the deployment whatever its id; reads and other deployments do not wait', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const first = deliver(host.handle, created, { id })
    await begun
    for (const event of [created, deleted]) {
      for (const other of ['evt_2', undefined]) {
        const response = await deliver(host.handle, event, { id: other })
        expect(response).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
      }
    }
    expect((await deliver(host.handle, { name: 'DOWNLOAD_STARTED', deployment })).status).toBe(200)
    const other = deliver(host.handle, { ...created, deployment: { id: 'dep_2', inputs: { token } } })
    finish()
    expect([(await first).status, (await other).status]).toEqual([200, 200])
  })
})

describe('a new delivery', () => {
  it('is every function call without an id, and every call of a function that only reads', async () => {
    const host = createHost()
    for (const _ of [1, 2]) {
      expect(isReplay(await deliver(host.handle, greet))).toBe(false)
      expect(isReplay(await deliver(host.handle, calling('count'), { id }))).toBe(false)
    }
    expect(actions(host)).toEqual(['greet', 'count', 'greet', 'count'])
  })

  it('is the same id on another route', async () => {
    const store = memoryStore()
    for (const route of ['greeter', 'greeter-server'])
      expect(isReplay(await deliver(createHost({ store, route }).handle, greet, { id }))).toBe(false)
  })

  it('is a repaired DEPLOYMENT_CREATED, after a failure and after a success', async () => {
    const host = createHost()
    const inRegion = (region: string, other: string) =>
      deliver(
        host.handle,
        { ...created, deployment: { id: 'dep_1', inputs: { token, region } } },
        { id: other },
      )
    expect((await inRegion('mars', 'evt_1')).status).toBe(422)
    for (const other of ['evt_2', 'evt_3']) {
      const { body } = await inRegion('us', other)
      expect(body).toMatchObject({ status: 'running', outputs: { token, region: 'us' } })
    }
    expect(isReplay(await inRegion('mars', 'evt_1'))).toBe(true)
  })
})

describe('a deleted deployment', () => {
  it.each(['evt_2', undefined])(
    'ignores a creation that arrives late under the id %s, and says so in its log',
    async (later) => {
      const host = createHost()
      await deliver(host.handle, deleted, { id })
      for (const _ of [1, 2]) {
        const response = await deliver(host.handle, created, { id: later })
        expect(response).toMatchObject({ status: 200, body: { status: 'ignored' } })
      }
      expect(actions(host)).toEqual(['disconnect'])
      expect(new Set(host.writes())).toEqual(
        new Set(['PUT /deployments/dep_1/status stopped', 'POST /deployments/dep_1/logs']),
      )
    },
  )

  it('can be created again after seven days', async () => {
    const { now, pass } = clock()
    const host = createHost({ store: memoryStore({ now }) })
    await deliver(host.handle, deleted, { id })
    pass(7 * DAY_MS)
    expect((await deliver(host.handle, created, { id: 'evt_2' })).body).toMatchObject({ status: 'running' })
  })
})
