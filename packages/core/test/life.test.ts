/**
 * The callbacks of an event, and what the random lives don’t reach in the life of a deployment: stores that forget,
 * callbacks that get lost, redeploys that fail.
 */
import { IntegrationError, memoryStore } from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
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
  inFakeTime,
  outputs,
  type ProviderCall,
  post,
} from './fixtures.ts'

const measure = { name: 'METRIC_UPDATE', deployment }
const health = { name: 'HEALTH_CHECK', deployment }
const download = { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' } }
const at = (event: object, timestamp: string) => ({ ...event, timestamp: `2026-11-20T${timestamp}:00Z` })
const history = (host: Host) => host.record()?.statusHistory.map(({ status }) => status)
const logs = (host: Host) => host.record()?.logs.map(({ message }) => message)
const statusAt = (status: string) => `PUT /deployments/dep_1/status ${status}`
const [logged, published] = ['POST /deployments/dep_1/logs', 'PUT /deployments/dep_1/outputs']
const away = new IntegrationError('provider_error', 'It is away.')
const rejected = new IntegrationError('provider_rejected', 'It said no.', { hint: 'Replace the key.' })

/** A host whose provider can be switched off, for all calls or for one action. */
function switchable(store = memoryStore(), only?: ProviderCall['action'], handlers = {}) {
  let failure: IntegrationError | undefined
  const provider = async ({ action }: ProviderCall) => {
    if (failure && action === (only ?? action)) throw failure
  }
  return {
    host: createHost({ provider, store, handlers }),
    fail: (error?: IntegrationError) => (failure = error),
  }
}

describe('the callbacks of an event', () => {
  it('of DEPLOYMENT_CREATED publish the outputs between “deploying” and “running”, then the log, one at a time', async () => {
    const { platform, record, writes } = createHost()
    let [underWay, most] = [0, 0]
    // So that the next call would overtake it.
    const slow: typeof fetch = async (...call) => {
      underWay += 1
      most = Math.max(most, underWay)
      await new Promise(setImmediate)
      underWay -= 1
      return platform.fetch(...call)
    }
    const { handle } = createHost({ platform: connectPlatform(slow) })
    const { status, body, headers } = await deliver(handle, { ...created, id: 'evt_2' }, { id: 'evt_1' })
    expect({ status, body }).toEqual({ status: 200, body: { status: 'running', outputs } })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.has('idempotency-replayed')).toBe(false)
    expect(writes()).toEqual([statusAt('deploying'), published, statusAt('running'), logged])
    expect(most).toBe(1)
    const keys = platform.calls.map(({ idempotencyKey }) => idempotencyKey?.replace(/\.[0-9a-f]{8}$/, ''))
    expect(keys).toEqual(['evt_1:status-deploying', 'evt_1:outputs', 'evt_1:status-running', 'evt_1:logs'])
    const entry = { level: 'info', message: 'Connected with [redacted].', data: { region: 'eu' } }
    expect(record()).toMatchObject({ outputs, sensitive: ['token'], logs: [entry] })
  })

  it('are none without a deployment', async () => {
    const { handle, platform } = createHost()
    const events = [{ name: 'HEALTH_CHECK' }, { name: 'METRIC_UPDATE' }, download, calling('count'), greet]
    for (const event of events) expect((await deliver(handle, event)).status).toBe(200)
    expect((await deliver(handle, calling('nothing'), { id: 'evt_1' })).status).toBe(404)
    expect(platform.calls).toEqual([])
  })

  it('have new idempotency keys at each try of a delivery, so that the platform accepts the log of all', async () => {
    const { handle, platform, record } = createHost()
    platform.faults.add({ path: /outputs$/, status: 503 })
    const tries = [
      ['evt_1', 502],
      ['evt_1', 200],
      [undefined, 200],
      [undefined, 200],
    ] as const
    for (const [id, status] of tries) expect((await deliver(handle, created, { id })).status).toBe(status)
    const statuses = platform.calls.map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200)).toEqual([503])
    expect(record()?.logs.map(({ level }) => level)).toEqual(['info', 'error', 'info', 'info', 'info'])
    await post(handle, JSON.stringify({ ...deleted, id: 'evt_2' }), { 'webhook-id': '' })
    expect(platform.calls.at(-1)?.idempotencyKey).toMatch(/^evt_2:status-stopped\./)
  })

  it.each(['succeeds', 'fails'])(
    'tell what the event did with its status, or in the log if it %s',
    async (fate) => {
      const host = createHost({
        async provider(_, { log }) {
          log.done('The greeter was made.')
          if (fate === 'fails') throw away
        },
      })
      await deliver(host.handle, created)
      const failure = ['The greeter was made.', 'DEPLOYMENT_CREATED: It is away.']
      expect(logs(host)).toEqual(fate === 'fails' ? failure : [expect.stringContaining('Connected')])
      const message = fate === 'fails' ? undefined : 'The greeter was made.'
      expect(host.record()?.statusHistory.at(-1)?.message).toBe(message)
    },
  )

  it.each<[string, IntegrationError, object, string[]]>([
    [
      'a final failure, which fails the deployment',
      rejected,
      created,
      [statusAt('deploying'), statusAt('failed')],
    ],
    ['a failure after which the next delivery may succeed', away, created, [statusAt('deploying')]],
    ['a call that fails, which has no status', rejected, { ...calling('count'), deployment }, []],
  ])('tell the log what to do about %s', async (_, error, event, statuses) => {
    const { handle, record, writes } = createHost({ provider: failing(error) })
    await deliver(handle, event, { id: 'evt_1' })
    expect(writes()).toEqual([...statuses, logged])
    const message = expect.stringMatching(/^\w+: It (said no\. Replace the key|is away)\.$/)
    const { code, retryable } = error
    expect(record()?.logs).toMatchObject([{ level: 'error', message, data: { code, retryable } }])
    const { status, message: told } = record()?.statusHistory.at(-1) ?? {}
    expect(told).toBe(status === 'failed' ? 'It said no. Replace the key.' : undefined)
  })

  it.each([
    ['status', created],
    ['log', created],
    ['metrics', measure],
  ])('leave a warning in the log of the host if the %s got lost', async (what, event) => {
    const host = createHost()
    host.platform.faults.add({ path: new RegExp(`${what}s?$`), status: 503, times: 10 })
    expect((await deliver(host.handle, event)).status).toBe(200)
    const message = expect.stringMatching(/^The platform did not receive the (status “\w+”|log|metrics)\.$/)
    const notes = expect.arrayContaining([expect.objectContaining({ level: 'warn', message })])
    expect(host.lines).toMatchObject([{ level: 'warn', facts: { notes } }])
  })

  it('fail a download whose files are lost', async () => {
    const { handle, platform } = createHost()
    platform.faults.add({ path: /downloads/, cut: 'before' })
    const { body } = await deliver(handle, { ...download, deployment })
    expect(body).toMatchObject({ code: 'platform_unavailable' })
  })

  it('report no metric that is not a number, which fails its event', async () => {
    const { handle, writes } = createHost({
      handlers: { metrics: async () => ({ greetings_sent: Number.NaN }) },
    })
    expect((await deliver(handle, measure)).body).toMatchObject({ code: 'internal_error' })
    expect(writes()).toEqual([logged])
  })
})

it('a health check reports nothing of a deployment that failed, if the platform has missed it', async () => {
  const host = createHost({ provider: failing(rejected) })
  await deliver(host.handle, created)
  Object.assign(host.record() ?? {}, { status: 'running' })
  expect((await deliver(host.handle, health)).body).toMatchObject({ status: 'unhealthy' })
  expect(history(host)).toEqual(['deploying', 'failed'])
})

it('an event whose provider does not answer tells the platform why, in time', async () => {
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const host = createHost({
    timeoutMs: 10_000,
    fetch: silent,
    provider: async (_, { fetch, signal }) => {
      const error = new IntegrationError('provider_timeout', 'No answer.')
      await fetch('http://provider.test', { signal }).catch(() => Promise.reject(error))
    },
  })
  const began = Date.now()
  const ended = await inFakeTime(async () => {
    expect((await deliver(host.handle, created)).body).toMatchObject({ code: 'provider_timeout' })
    return Date.now()
  })
  expect(ended - began).toBeLessThan(10_000)
  expect(logs(host)).toEqual(['DEPLOYMENT_CREATED: No answer.'])
})

it('a creation that can’t be discarded for a deployment that the platform lost fails', async () => {
  const { host, fail } = switchable(memoryStore(), 'discard')
  fail(away)
  host.platform.removeDeployment('dep_1')
  expect((await deliver(host.handle, created)).body).toMatchObject({ code: 'provider_error' })
  expect(host.writes()).not.toContain(statusAt('running'))
})

it('the platform’s record of a deployment counts alone if the store has forgotten it', async () => {
  const host = createHost()
  /** Delivers to a host with an empty store. */
  const send = (event: object, provider = async () => {}) => {
    const { handle } = createHost({ platform: connectPlatform(host.platform.fetch), provider })
    return deliver(handle, event)
  }
  await send(created)
  await send(health, failing(away))
  expect(history(host)?.at(-1)).toBe('unhealthy')
  await send(deleted)
  const refusal = { status: 422, body: { code: 'deployment_deleted', retryable: false } }
  expect(await send({ ...greet, deployment })).toMatchObject(refusal)
})

describe('a timestamp of the future', () => {
  it('is refused, and one line of the log has it beside the clock of the host', async () => {
    const host = createHost()
    const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const [soon, late] = [inMinutes(4), inMinutes(6)]
    const body = { code: 'invalid_event', errors: [{ path: 'timestamp' }] }
    expect(await deliver(host.handle, { ...created, timestamp: late })).toMatchObject({ status: 400, body })
    const facts = { timestamp: late, clock: expect.stringMatching(/^20/) }
    expect(host.lines).toMatchObject([{ level: 'warn', facts }])
    expect(await deliver(host.handle, { ...created, timestamp: soon })).toMatchObject({ status: 200 })
  })

  it('that is recorded outdates no event', async () => {
    const store = memoryStore()
    const timestamp = '9999-01-01T00:00:00Z'
    await deliver(createHost({ store, now: () => Date.parse(timestamp) }).handle, { ...created, timestamp })
    const host = createHost({ store })
    for (const event of [created, deleted]) await deliver(host.handle, at(event, '09:00'))
    expect(history(host)).toEqual(['deploying', 'running', 'stopped'])
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
    expect(logs(host)?.at(-1)).toContain('2026-11-20T12:00:00.000Z')
  }
  expect(history(host)).toEqual(['deploying', 'running', 'deploying', 'running', 'unhealthy'])
})

it('a redeploy that fails for good leaves a deployment failed that runs only in part, with a line in its log', async () => {
  const checks = [true, false].map((healthy) => ({ name: 'provider', healthy, latencyMs: 0 }))
  const { host, fail } = switchable(memoryStore(), 'connect', { health: async () => checks })
  await deliver(host.handle, created)
  fail(rejected)
  expect((await deliver(host.handle, created)).status).toBe(422)
  expect(history(host)?.at(-1)).toBe('failed')
  expect(logs(host)?.at(-1)).toContain(rejected.message)
})

it('a deletion that fails for good leaves a running deployment failed, and a stopped one stopped', async () => {
  const { host, fail } = switchable(memoryStore(), 'disconnect')
  await deliver(host.handle, created)
  for (const [failure, expected] of [
    [rejected, 'failed'],
    [undefined, 'stopped'],
    [rejected, 'stopped'],
  ] as const) {
    fail(failure)
    await deliver(host.handle, deleted)
    expect(history(host)?.at(-1)).toBe(expected)
  }
})
