/** What the random lives don’t reach: stores that forget, callbacks that get lost, redeploys that fail. */
import { IntegrationError, memoryStore } from '@org/core'
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
const first = { ...created, id: 'evt_1' }
const at = (event: object, timestamp: string) => ({ ...event, timestamp: `2026-11-20T${timestamp}:00Z` })
const history = (host: Host) => host.record()?.statusHistory.map(({ status }) => status)
const lastLog = (host: Host) => host.record()?.logs.at(-1)?.message
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

it('a health check reports by the platform’s record alone if the store has forgotten the deployment', async () => {
  const host = createHost()
  await deliver(host.handle, created)
  const platform = connectPlatform(host.platform.fetch)
  await deliver(createHost({ platform, provider: failing(away) }).handle, health)
  expect(history(host)?.at(-1)).toBe('unhealthy')
})

it('a health check reports nothing of a deployment that failed, if the platform has missed it', async () => {
  const host = createHost({ provider: failing(rejected) })
  await deliver(host.handle, created)
  Object.assign(host.record() ?? {}, { status: 'running' })
  expect((await deliver(host.handle, health)).body).toMatchObject({ status: 'unhealthy' })
  expect(history(host)).toEqual(['deploying', 'failed'])
})

describe('a deleted deployment', () => {
  it('refuses functions by the platform’s record if the store has forgotten it', async () => {
    const host = createHost()
    await deliver(host.handle, created)
    await deliver(host.handle, deleted)
    const later = createHost({ platform: connectPlatform(host.platform.fetch) })
    const answer = await deliver(later.handle, { ...calling('greet', { to: 'Ada' }), deployment })
    expect(answer).toMatchObject({ status: 422, body: { code: 'deployment_deleted', retryable: false } })
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

describe('a timestamp of the future', () => {
  const timestamp = '9999-01-01T00:00:00Z'

  it('is refused, and one line of the log has it beside the clock of the host', async () => {
    const host = createHost()
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const [soon, late] = [inMinutes(4), inMinutes(6)]
    const body = { code: 'invalid_event', errors: [{ path: 'timestamp' }] }
    expect(await deliver(host.handle, { ...created, timestamp: late })).toMatchObject({ status: 400, body })
    const facts = { timestamp: late, clock: expect.stringMatching(/^20/) }
    expect(host.lines.filter(({ level }) => level === 'warn')).toMatchObject([{ facts }])
    expect(await deliver(host.handle, { ...created, timestamp: soon })).toMatchObject({ status: 200 })
  })

  it('that is recorded outdates no event', async () => {
    const store = memoryStore()
    const later = Date.parse(timestamp)
    await deliver(createHost({ store, now: () => later }).handle, { ...created, timestamp })
    const host = createHost({ store })
    for (const [event, status] of [
      [created, 'running'],
      [deleted, 'stopped'],
    ] as const)
      expect((await deliver(host.handle, at(event, '09:00'))).body).toMatchObject({ status })
  })
})

it('a living deployment is remembered as long as it lives, and its log tells of events that are too old', async () => {
  const { now, pass } = clock()
  const { host, fail } = switchable(memoryStore({ now }), 'ping')
  for (const failure of [undefined, away]) {
    await deliver(host.handle, at(created, '12:00'))
    fail(failure)
    await deliver(host.handle, health)
    pass(60 * 24 * 60 * 60 * 1000)
    expect((await deliver(host.handle, at(deleted, '11:00'))).body).toMatchObject({ status: 'ignored' })
    expect(lastLog(host)).toContain('2026-11-20T12:00:00.000Z')
  }
  expect(history(host)).toEqual(['deploying', 'running', 'deploying', 'running', 'unhealthy'])
})

it.each([
  ['running', [true], 0],
  ['failed if it runs no more', [false], 0],
  ['failed if it runs only in part', [true, false], 0],
  ['running if nobody can tell whether it does', [false], 9],
])('a redeploy that fails for good leaves the deployment %s, with a line in its log', async (...row) => {
  const [status, checks, unreadable] = row
  const store = memoryStore()
  const host = createHost({ store })
  await deliver(host.handle, created)
  const platform = connectPlatform(host.platform.fetch)
  if (unreadable > 0) host.platform.faults.add({ method: 'GET', status: 503, times: unreadable })
  const health = async () => checks.map((healthy) => ({ name: 'provider', healthy, latencyMs: 0 }))
  const again = createHost({ store, platform, provider: failing(rejected), handlers: { health } })
  expect((await deliver(again.handle, created)).status).toBe(422)
  expect(history(host)?.at(-1)).toBe(status.split(' ')[0])
  expect(lastLog(host)).toContain(rejected.message)
})

it('a deletion that fails for good leaves a running deployment failed, and a stopped one stopped', async () => {
  const { host, fail } = switchable(memoryStore(), 'disconnect')
  await deliver(host.handle, created)
  const steps = [rejected, undefined, rejected]
  const expected = ['failed', 'stopped', 'stopped']
  for (const [step, failure] of steps.entries()) {
    fail(failure)
    await deliver(host.handle, deleted)
    expect(history(host)?.at(-1)).toBe(expected[step])
  }
})

it('the status of a replay is not reported after its lease, because another delivery may have changed it', async () => {
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
