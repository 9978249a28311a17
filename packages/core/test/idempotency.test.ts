import { IntegrationError, memoryStore } from '@org/core'
import { type DeliveryResponse, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  failing,
  greet,
  type Host,
  slowProvider,
  token,
} from './fixtures.ts'

const id = 'evt_1'
const deployment = { id: 'dep_1' }

const actions = ({ asked }: Host) => asked.map(({ action }) => action)
const isReplay = ({ headers }: DeliveryResponse) => headers.get('idempotency-replayed') === 'true'

describe('a redelivery', () => {
  it('of a function gets the recorded answer, and has no second effect', async () => {
    const host = createHost()
    const first = await deliver(host.handle, greet, { id })
    const again = await deliver(host.handle, greet, { id })
    expect([isReplay(first), isReplay(again)]).toEqual([false, true])
    expect(again).toMatchObject({ status: 200, body: { result: { id: 'greeting-to-Ada' } } })
    expect(actions(host)).toEqual(['greet'])
  })

  it('of DEPLOYMENT_CREATED gets the recorded answer without the secret outputs, and makes no callback', async () => {
    const host = createHost()
    await deliver(host.handle, created, { id })
    const before = host.platform.calls.length
    const again = await deliver(host.handle, created, { id })
    expect([again.status, isReplay(again)]).toEqual([200, true])
    expect(again.body).toEqual({ status: 'running', outputs: { region: 'eu' } })
    expect([host.platform.calls.length, host.asked.length]).toEqual([before, 1])
  })

  it('of DEPLOYMENT_DELETED gets the recorded answer', async () => {
    const host = createHost()
    await deliver(host.handle, deleted, { id })
    const again = await deliver(host.handle, deleted, { id })
    expect([again.body, isReplay(again)]).toEqual([{ status: 'stopped' }, true])
    expect(actions(host)).toEqual(['disconnect'])
  })

  it('is recognized by the id in the body', async () => {
    const host = createHost()
    await deliver(host.handle, { ...greet, id })
    expect(isReplay(await deliver(host.handle, { ...greet, id }))).toBe(true)
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

  it.each([
    new TypeError('a fault of the host'),
    new IntegrationError('provider_timeout', 'Too slow.', { effect: 'unknown' }),
  ])('gets outcome_unknown if the effect may have happened before %s', async (error) => {
    const host = createHost({ provider: failing(error, 1) })
    for (const replayed of [false, true]) {
      const answer = await deliver(host.handle, greet, { id })
      expect(answer).toMatchObject({ status: 409, body: { code: 'outcome_unknown', retryable: false } })
      expect(isReplay(answer)).toBe(replayed)
    }
    expect(actions(host)).toEqual(['greet'])
  })

  it('with another body is refused as 422 invalid_event, during the work and after it', async () => {
    const { provider, begun, finish } = slowProvider()
    const host = createHost({ provider })
    const other = calling('greet', { to: 'Bob' })
    const first = deliver(host.handle, greet, { id })
    await begun
    const refusal = { status: 422, body: { code: 'invalid_event', retryable: false } }
    expect(await deliver(host.handle, other, { id })).toMatchObject(refusal)
    finish()
    await first
    expect(await deliver(host.handle, other, { id })).toMatchObject(refusal)
    expect(actions(host)).toEqual(['greet'])
  })
})

describe('a delivery during another one', () => {
  it('with the same id is answered delivery_in_progress, and with the recorded answer later', async () => {
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
        const code = 'delivery_in_progress'
        const answer = await deliver(host.handle, event, { id: other })
        expect(answer).toMatchObject({ status: 409, body: { code } })
      }
    }
    expect((await deliver(host.handle, { name: 'DOWNLOAD_STARTED', deployment })).status).toBe(200)
    const other = deliver(host.handle, { ...created, deployment: { id: 'dep_2', inputs: { token } } })
    finish()
    expect([(await first).status, (await other).status]).toEqual([200, 200])
  })

  it.each([greet, created])('$name runs once among fifty at once', async (event) => {
    const host = createHost()
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver(host.handle, event, { id })))
    expect(answers.filter((answer) => answer.status === 200 && !isReplay(answer))).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect(actions(host)).toHaveLength(1)
  })
})

describe('a new delivery', () => {
  it('is every function call under another id, or without an id', async () => {
    const host = createHost()
    for (const other of ['evt_1', 'evt_2', undefined, undefined]) {
      expect(isReplay(await deliver(host.handle, greet, { id: other }))).toBe(false)
    }
    expect(actions(host)).toHaveLength(4)
  })

  it('is every call of a function that only reads, also under the same id', async () => {
    const host = createHost()
    for (const _ of [1, 2]) {
      expect(isReplay(await deliver(host.handle, calling('count'), { id }))).toBe(false)
    }
    expect(actions(host)).toEqual(['count', 'count'])
  })

  it('is the same id on another route', async () => {
    const store = memoryStore()
    for (const route of ['greeter', 'greeter-server']) {
      expect(isReplay(await deliver(createHost({ store, route }).handle, greet, { id }))).toBe(false)
    }
  })

  it('is a repaired DEPLOYMENT_CREATED, after a failure and after a success', async () => {
    const host = createHost()
    const inRegion = (region: string) => ({
      ...created,
      deployment: { id: 'dep_1', inputs: { token, region } },
    })
    expect((await deliver(host.handle, inRegion('mars'), { id: 'evt_1' })).status).toBe(422)
    for (const other of ['evt_2', 'evt_3']) {
      const answer = await deliver(host.handle, inRegion('us'), { id: other })
      expect(answer.body).toMatchObject({ status: 'running', outputs: { token, region: 'us' } })
    }
    expect(isReplay(await deliver(host.handle, inRegion('mars'), { id: 'evt_1' }))).toBe(true)
  })
})

describe('a deleted deployment', () => {
  it.each(['evt_2', undefined])('ignores a creation that arrives late under the id %s', async (later) => {
    const host = createHost()
    await deliver(host.handle, deleted, { id })
    for (const _ of [1, 2]) {
      const answer = await deliver(host.handle, created, { id: later })
      expect(answer).toMatchObject({ status: 200, body: { status: 'ignored' } })
    }
    expect(actions(host)).toEqual(['disconnect'])
    expect(host.told()).toEqual(['PUT /deployments/dep_1/status stopped'])
  })

  it('can be deleted again', async () => {
    const host = createHost()
    await deliver(host.handle, deleted, { id })
    expect((await deliver(host.handle, deleted, { id: 'evt_2' })).body).toEqual({ status: 'stopped' })
  })

  it('can be created again after seven days', async () => {
    const { now, pass } = clock()
    const host = createHost({ store: memoryStore({ now }) })
    await deliver(host.handle, deleted, { id })
    pass(7 * 24 * 60 * 60 * 1000)
    expect((await deliver(host.handle, created, { id: 'evt_2' })).body).toMatchObject({ status: 'running' })
  })

  it.each(['provider_rejected', 'provider_error'] as const)(
    'is not one whose deletion failed with %s',
    async (code) => {
      const host = createHost({ provider: failing(new IntegrationError(code, 'No.'), 1) })
      await deliver(host.handle, deleted, { id })
      expect((await deliver(host.handle, created, { id: 'evt_2' })).body).toMatchObject({ status: 'running' })
    },
  )
})
