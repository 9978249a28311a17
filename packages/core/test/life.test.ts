import { IntegrationError, memoryStore, type Platform } from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import {
  calling,
  clock,
  created,
  createHost,
  deleted,
  deployment,
  failing,
  type Host,
  inFakeTime,
  type ProviderCall,
  token,
  unreachableStore,
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
  it('reports once that a running deployment broke, and once that it recovered', async () => {
    const { host, fail } = switchable()
    await deliver(host.handle, created)
    for (const failure of [undefined, away, away, undefined, undefined]) {
      fail(failure)
      await deliver(host.handle, health)
    }
    expect(history(host)).toEqual(['deploying', 'running', 'unhealthy', 'running'])
  })

  it('reports by the platform’s record alone if the store has forgotten the deployment', async () => {
    const host = createHost()
    await deliver(host.handle, created)
    const platform = connectPlatform(host.platform.fetch)
    await deliver(createHost({ platform, provider: failing(away) }).handle, health)
    expect(shown(host)).toBe('unhealthy')
  })

  it.each([
    ['failed', created, new IntegrationError('provider_rejected', 'No.')],
    ['stopped', deleted, undefined],
  ])(
    'reports nothing of a deployment that is %s, if the platform has missed it',
    async (_, event, failure) => {
      const { host, fail } = switchable()
      fail(failure)
      await deliver(host.handle, event)
      Object.assign(host.record() ?? {}, { status: 'running' })
      const before = history(host)
      fail(away)
      expect((await deliver(host.handle, health)).body).toMatchObject({ status: 'unhealthy' })
      expect(history(host)).toEqual(before)
      fail()
      expect((await deliver(host.handle, deleted)).body).toEqual({ status: 'stopped' })
    },
  )

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
  it('refuses functions by the platform’s record if the store has forgotten it', async () => {
    const host = createHost()
    await deliver(host.handle, created)
    await deliver(host.handle, deleted)
    const later = createHost({ platform: connectPlatform(host.platform.fetch) })
    const answer = await deliver(later.handle, greet)
    const body = { code: 'deployment_deleted', retryable: false }
    expect(answer).toMatchObject({ status: 422, body })
  })

  it('ignores a redelivery of its creation, also while something else works on it', async () => {
    const store = memoryStore()
    const host = createHost({ store })
    await deliver(host.handle, created, { id: 'evt_1' })
    await deliver(host.handle, deleted, { id: 'evt_2' })
    await store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 60_000 })
    const again = await deliver(host.handle, created, { id: 'evt_1' })
    expect(again.body).toMatchObject({ status: 'ignored' })
  })
})

describe('a deployment that begins anew under the id of a deleted one', () => {
  it('begins once the store has taken it, and with the next delivery if it can’t', async () => {
    const memory = memoryStore()
    const advance = vi.fn(memory.advance)
    const { host } = switchable({ ...memory, advance })
    await deliver(host.handle, at(created, '09:00'))
    await deliver(host.handle, at(deleted, '10:00'))
    advance.mockImplementation(unreachableStore.advance)
    await inFakeTime(async () => {
      expect((await deliver(host.handle, at(created, '11:00'))).body).toMatchObject({ code: 'overloaded' })
      expect(host.providerCalls).toHaveLength(2)
      advance.mockImplementation(memory.advance)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      expect((await deliver(host.handle, at(created, '11:00'))).body).toMatchObject({ status: 'running' })
    })
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
})

describe('a living deployment', () => {
  it('is remembered as long as it lives, also after its health changed', async () => {
    const { now, pass } = clock()
    const { host, fail } = switchable(memoryStore({ now }), 'ping')
    for (const failure of [undefined, away]) {
      await deliver(host.handle, at(created, '12:00'))
      fail(failure)
      await deliver(host.handle, health)
      pass(60 * 24 * 60 * 60 * 1000)
      expect((await deliver(host.handle, at(deleted, '11:00'))).body).toMatchObject({ status: 'ignored' })
    }
    expect(history(host)).toEqual(['deploying', 'running', 'deploying', 'running', 'unhealthy'])
  })
})

describe('a redeploy that fails', () => {
  const rejected = new IntegrationError('provider_rejected', 'No.')

  it.each<[string, IntegrationError, ProviderCall['action'] | undefined, string]>([
    ['finally leaves the deployment running', rejected, 'connect', 'running'],
    ['for the moment leaves the deployment running', away, undefined, 'running'],
    ['finally, and that ran no more, leaves it failed', rejected, undefined, 'failed'],
  ])('%s, with a line in its log', async (_, failure, only, status) => {
    const { host, fail } = switchable(memoryStore(), only)
    await deliver(host.handle, created)
    fail(failure)
    expect((await deliver(host.handle, created)).status).not.toBe(200)
    expect(shown(host)).toBe(status)
    expect(logs(host).at(-1)).toContain(failure.message)
  })

  it('finally leaves a deployment failed that runs only in part', async () => {
    const provider = async ({ action }: ProviderCall) => {
      if (action === 'connect') throw rejected
    }
    const store = memoryStore()
    const first = createHost({ store })
    await deliver(first.handle, created)
    const platform = connectPlatform(first.platform.fetch)
    const health = async () =>
      [true, false].map((healthy) => ({ name: `server ${healthy}`, healthy, latencyMs: 0 }))
    await deliver(createHost({ store, platform, provider, handlers: { health } }).handle, created)
    expect(shown(first)).toBe('failed')
  })

  it('finally leaves the deployment running if nobody can tell whether it does', async () => {
    const { host, fail } = switchable()
    await deliver(host.handle, created)
    fail(rejected)
    host.platform.faults.add({ method: 'GET', status: 503, times: 9 })
    await deliver(host.handle, created)
    expect(shown(host)).toBe('running')
  })

  it('for the moment leaves an unhealthy deployment unhealthy', async () => {
    const { host, fail } = switchable()
    await deliver(host.handle, created)
    fail(away)
    await deliver(host.handle, health)
    await deliver(host.handle, created)
    expect(history(host)?.slice(-3)).toEqual(['unhealthy', 'deploying', 'unhealthy'])
  })
})

describe('a deletion that fails for good', () => {
  it('leaves a running deployment failed, and a stopped one stopped', async () => {
    const { host, fail } = switchable(memoryStore(), 'disconnect')
    const statuses = []
    for (const failure of [new IntegrationError('provider_rejected', 'No.'), undefined]) {
      await deliver(host.handle, created)
      fail(failure)
      await deliver(host.handle, deleted)
      statuses.push(shown(host))
    }
    fail(new IntegrationError('provider_rejected', 'No.'))
    await deliver(host.handle, deleted)
    expect([...statuses, shown(host)]).toEqual(['failed', 'stopped', 'stopped'])
  })
})

describe('a redeploy', () => {
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
  it('reports no status after its lease, because another delivery may have changed it', async () => {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const host = createHost({ now, store })
    await deliver(host.handle, created, { id: 'evt_1' })
    host.platform.calls.length = 0
    const halting = createHost({
      now,
      store: { ...store, claim: (request) => store.claim(request).finally(() => pass(30_000)) },
      platform: connectPlatform(host.platform.fetch),
    })
    expect((await deliver(halting.handle, created, { id: 'evt_1' })).status).toBe(200)
    expect(host.writes()).toEqual([])
  })
})

describe('a status of a replay or a health check', () => {
  const first = { ...created, id: 'evt_1' }

  it.each([first, health])(
    'overtakes no deletion: $name holds the deployment while it reports',
    async (event) => {
      const store = memoryStore()
      const host = createHost({ store })
      await deliver(host.handle, first)
      const during: unknown[] = []
      const platform: Platform = {
        ...connectPlatform(host.platform.fetch),
        async setStatus() {
          during.push(await deliver(host.handle, deleted, { id: 'evt_2' }))
          return 'accepted'
        },
      }
      const racing = createHost({ store, platform, provider: failing(away) })
      await deliver(racing.handle, event)
      expect(during).toMatchObject([{ status: 409, body: { code: 'delivery_in_progress' } }])
      expect((await deliver(host.handle, deleted, { id: 'evt_2' })).body).toEqual({ status: 'stopped' })
    },
  )
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
