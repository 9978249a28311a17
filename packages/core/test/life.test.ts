import { IntegrationError, memoryStore } from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  created,
  createHost,
  deleted,
  deployment,
  type Host,
  type ProviderCall,
  token,
} from './fixtures.ts'

const health = { name: 'HEALTH_CHECK', deployment }
const greet = { ...calling('greet', { to: 'Ada' }), deployment }
const at = (event: object, timestamp: string) => ({ ...event, timestamp: `2026-11-20T${timestamp}:00Z` })
const history = (host: Host) => host.record()?.statusHistory.map(({ status }) => status)
const shown = (host: Host) => history(host)?.at(-1)
const logs = (host: Host) => host.record()?.logs.map(({ message }) => message) ?? []

/** A host whose provider can be switched off, for all calls or for one action. */
function switchable(store = memoryStore(), only?: ProviderCall['action']) {
  let failure: IntegrationError | undefined
  const provider = async ({ action }: ProviderCall) => {
    if (failure && action === (only ?? action)) throw failure
  }
  return { host: createHost({ provider, store }), fail: (error?: IntegrationError) => (failure = error) }
}
const away = new IntegrationError('provider_error', 'It is away.')

describe('a health check', () => {
  it('does not overtake another delivery that works on the deployment', async () => {
    const store = memoryStore()
    const { host, fail } = switchable(store)
    await deliver(host.handle, created)
    await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 60_000 })
    fail(away)
    expect((await deliver(host.handle, health)).body).toMatchObject({ status: 'unhealthy' })
    expect(shown(host)).toBe('running')
  })
})

describe('a deleted deployment', () => {
  it.each([greet, { name: 'METRIC_UPDATE', deployment }, { name: 'DOWNLOAD_STARTED', deployment }])(
    'refuses $name',
    async (event) => {
      const host = createHost()
      await deliver(host.handle, created)
      await deliver(host.handle, deleted)
      expect(await deliver(host.handle, event)).toMatchObject({
        status: 422,
        body: { code: 'deployment_deleted', retryable: false },
      })
      expect(host.providerCalls.map(({ action }) => action)).toEqual(['connect', 'disconnect'])
    },
  )

  it('refuses functions by the platform’s record if the store has forgotten it', async () => {
    const host = createHost()
    await deliver(host.handle, created)
    await deliver(host.handle, deleted)
    const later = createHost({ platform: connectPlatform(host.platform.fetch) })
    const answer = await deliver(later.handle, greet)
    expect(answer.body).toMatchObject({ code: 'deployment_deleted' })
  })

  it('begins anew with a creation that is later than the deletion', async () => {
    const host = createHost()
    await deliver(host.handle, at(created, '09:00'))
    await deliver(host.handle, at(deleted, '10:00'))
    expect((await deliver(host.handle, at(created, '09:30'))).body).toMatchObject({ status: 'ignored' })
    expect((await deliver(host.handle, at(created, '11:00'))).body).toMatchObject({ status: 'running' })
    expect(shown(host)).toBe('running')
    expect((await deliver(host.handle, greet)).status).toBe(200)
  })

  it('stays deleted if a creation arrives that is older than the last one, by a clock that is ahead', async () => {
    const host = createHost()
    const ahead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    await deliver(host.handle, { ...created, timestamp: ahead(2) })
    await deliver(host.handle, deleted)
    const late = await deliver(host.handle, { ...created, timestamp: ahead(1) })
    expect(late.body).toMatchObject({ status: 'ignored' })
    expect(shown(host)).toBe('stopped')
  })
})

describe('an event that is older than the last one', () => {
  it.each([created, deleted])('is ignored, and its deployment’s log says so: $name', async (event) => {
    const host = createHost()
    await deliver(host.handle, at(created, '12:00'))
    const before = history(host)
    const answer = await deliver(host.handle, at(event, '11:00'))
    expect(answer).toMatchObject({ status: 200, body: { status: 'ignored' } })
    expect(history(host)).toEqual(before)
    expect(logs(host).at(-1)).toContain('2026-11-20T12:00:00.000Z')
  })

  it('runs if one of the two has no timestamp', async () => {
    const host = createHost()
    await deliver(host.handle, at(created, '12:00'))
    expect((await deliver(host.handle, created)).body).toMatchObject({ status: 'running' })
  })
})

describe('a redeploy', () => {
  it.each([
    ['finally', new IntegrationError('provider_rejected', 'No.')],
    ['for the moment', away],
  ])('that fails %s leaves the deployment running, with a line in its log', async (_, failure) => {
    const { host, fail } = switchable(memoryStore(), 'connect')
    await deliver(host.handle, created)
    fail(failure)
    expect((await deliver(host.handle, created)).status).not.toBe(200)
    expect(shown(host)).toBe('running')
    expect(logs(host).at(-1)).toContain(failure.message)
  })

  it('names inputs that have no effect', async () => {
    const host = createHost()
    const inputs = { token, regoin: 'us', colour: 'blue' }
    await deliver(host.handle, { ...created, deployment: { ...deployment, inputs } })
    expect(logs(host)).toEqual(
      expect.arrayContaining([
        'The input “regoin” is unknown and has no effect; the nearest name is “region”',
        'The input “colour” is unknown and has no effect.',
      ]),
    )
  })
})

describe('a replay', () => {
  it('reports no status while another delivery works on the deployment', async () => {
    const store = memoryStore()
    const host = createHost({ store })
    await deliver(host.handle, created, { id: 'evt_1' })
    await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 60_000 })
    host.platform.calls.length = 0
    expect((await deliver(host.handle, created, { id: 'evt_1' })).status).toBe(200)
    expect(host.writes()).toEqual([])
  })

  it('holds the deployment while it reports its status, so that no deletion is overtaken', async () => {
    const memory = memoryStore()
    const host = createHost({ store: memory })
    await deliver(host.handle, created, { id: 'evt_1' })
    const racing = createHost({
      store: memory,
      platform: {
        ...connectPlatform(host.platform.fetch),
        async setStatus() {
          const during = await deliver(host.handle, deleted, { id: 'evt_2' })
          expect(during).toMatchObject({ status: 409, body: { code: 'delivery_in_progress' } })
          return 'accepted'
        },
      },
    })
    await deliver(racing.handle, created, { id: 'evt_1' })
    expect((await deliver(host.handle, deleted, { id: 'evt_2' })).body).toEqual({ status: 'stopped' })
    expect.assertions(2)
  })
})

describe('a status that got lost', () => {
  it('is not made up for a deployment that the platform did not know', async () => {
    const host = createHost()
    host.platform.faults.add({ path: /dep_1/, status: 404, body: {}, times: 9 })
    expect((await deliver(host.handle, created, { id: 'evt_1' })).body).toMatchObject({ status: 'ignored' })
    host.platform.faults.clear()
    await deliver(host.handle, created, { id: 'evt_1' })
    expect(history(host)).toEqual([])
  })
})
