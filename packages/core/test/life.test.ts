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
  unreachableStore,
} from './fixtures.ts'

const health = { name: 'HEALTH_CHECK', deployment }
const greet = { ...calling('greet', { to: 'Ada' }), deployment }
const first = { ...created, id: 'evt_1' }
const at = (event: object, timestamp: string) => ({ ...event, timestamp: `2026-11-20T${timestamp}:00Z` })
const history = (host: Host) => host.record()?.statusHistory.map(({ status }) => status)
const lastLog = (host: Host) => host.record()?.logs.at(-1)?.message
const hold = (store = memoryStore()) => store.claim({ subject: 'greeter/deployment/dep_1', leaseMs: 60_000 })
const away = new IntegrationError('provider_error', 'It is away.')
const rejected = new IntegrationError('provider_rejected', 'No.')

/** A host whose provider can be switched off, for all calls or for one action. */
function switchable(store = memoryStore(), only?: ProviderCall['action']) {
  let failure: IntegrationError | undefined
  const provider = async ({ action }: ProviderCall) => {
    if (failure && action === (only ?? action)) throw failure
  }
  return { host: createHost({ provider, store }), fail: (error?: IntegrationError) => (failure = error) }
}

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
    expect(history(host)?.at(-1)).toBe('unhealthy')
  })

  it.each([
    ['failed', created, rejected],
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
    await hold(store)
    fail(away)
    expect((await deliver(host.handle, health)).body).toMatchObject({ status: 'unhealthy' })
    expect(history(host)?.at(-1)).toBe('running')
  })
})

describe('a deleted deployment', () => {
  it('refuses functions by the platform’s record if the store has forgotten it', async () => {
    const host = createHost()
    await deliver(host.handle, created)
    await deliver(host.handle, deleted)
    const later = createHost({ platform: connectPlatform(host.platform.fetch) })
    const body = { code: 'deployment_deleted', retryable: false }
    expect(await deliver(later.handle, greet)).toMatchObject({ status: 422, body })
  })

  it('ignores a redelivery of its creation, also while something else works on it', async () => {
    const store = memoryStore()
    const host = createHost({ store })
    await deliver(host.handle, first)
    await deliver(host.handle, deleted, { id: 'evt_2' })
    await hold(store)
    expect((await deliver(host.handle, first)).body).toMatchObject({ status: 'ignored' })
  })

  it('begins anew once the store has taken it, and with the next delivery if it can’t', async () => {
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

describe('a living deployment', () => {
  it.each([created, deleted])('ignores an older $name, and its log says so', async (event) => {
    const host = createHost()
    await deliver(host.handle, at(created, '12:00'))
    const before = history(host)
    const answer = await deliver(host.handle, at(event, '11:00'))
    expect(answer).toMatchObject({ status: 200, body: { status: 'ignored' } })
    expect(history(host)).toEqual(before)
    expect(lastLog(host)).toContain('2026-11-20T12:00:00.000Z')
  })

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
  it.each<[string, IntegrationError, ProviderCall['action'] | undefined, string]>([
    ['for good leaves the deployment running', rejected, 'connect', 'running'],
    ['for now leaves the deployment running', away, undefined, 'running'],
    ['for good leaves a deployment failed that runs no more', rejected, undefined, 'failed'],
  ])('%s, with a line in its log', async (_, failure, only, status) => {
    const { host, fail } = switchable(memoryStore(), only)
    await deliver(host.handle, created)
    fail(failure)
    expect((await deliver(host.handle, created)).status).not.toBe(200)
    expect(history(host)?.at(-1)).toBe(status)
    expect(lastLog(host)).toContain(failure.message)
  })

  it.each([
    ['failed if the deployment runs only in part', 'failed', {}],
    [
      'running if nobody can tell whether the deployment runs',
      'running',
      { method: 'GET', status: 503, times: 9 },
    ],
  ])('for good leaves %s', async (_, status, fault) => {
    const store = memoryStore()
    const host = createHost({ store })
    await deliver(host.handle, created)
    const platform = connectPlatform(host.platform.fetch)
    const health = async () => [true, false].map((healthy) => ({ name: 'server', healthy, latencyMs: 0 }))
    if ('status' in fault) host.platform.faults.add(fault)
    await deliver(
      createHost({ store, platform, provider: failing(rejected), handlers: { health } }).handle,
      created,
    )
    expect(history(host)?.at(-1)).toBe(status)
  })

  it('for now leaves an unhealthy deployment unhealthy', async () => {
    const { host, fail } = switchable()
    await deliver(host.handle, created)
    fail(away)
    await deliver(host.handle, health)
    await deliver(host.handle, created)
    expect(history(host)?.slice(-3)).toEqual(['unhealthy', 'deploying', 'unhealthy'])
  })
})

it('a deletion that fails for good leaves a running deployment failed, and a stopped one stopped', async () => {
  const { host, fail } = switchable(memoryStore(), 'disconnect')
  await deliver(host.handle, created)
  for (const [failure, status] of [
    [rejected, 'failed'],
    [undefined, 'stopped'],
    [rejected, 'stopped'],
  ] as const) {
    fail(failure)
    await deliver(host.handle, deleted)
    expect(history(host)?.at(-1)).toBe(status)
  }
})

describe('the status of a replay', () => {
  it('is not reported after its lease, because another delivery may have changed it', async () => {
    const { now, pass } = clock()
    const store = memoryStore({ now })
    const host = createHost({ now, store })
    await deliver(host.handle, first)
    host.platform.calls.length = 0
    const halting = createHost({
      now,
      store: { ...store, claim: (request) => store.claim(request).finally(() => pass(30_000)) },
      platform: connectPlatform(host.platform.fetch),
    })
    expect((await deliver(halting.handle, first)).status).toBe(200)
    expect(host.writes()).toEqual([])
  })

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
      await deliver(createHost({ store, platform, provider: failing(away) }).handle, event)
      expect(during).toMatchObject([{ status: 409, body: { code: 'delivery_in_progress' } }])
      expect((await deliver(host.handle, deleted, { id: 'evt_2' })).body).toEqual({ status: 'stopped' })
    },
  )

  it('is not made up for a deployment that the platform did not know', async () => {
    const host = createHost()
    host.platform.faults.add({ path: /dep_1/, status: 404, body: {}, times: 9 })
    expect((await deliver(host.handle, first)).body).toMatchObject({ status: 'ignored' })
    host.platform.faults.clear()
    await deliver(host.handle, first)
    expect(history(host)).toEqual([])
  })
})
