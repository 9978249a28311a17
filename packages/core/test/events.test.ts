import { IntegrationError } from '@org/core'
import { connectPlatform, deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import {
  calling,
  created,
  createHost,
  deleted,
  deployment,
  failing,
  greet,
  inFakeTime,
  outputs,
  post,
} from './fixtures.ts'

const measure = { name: 'METRIC_UPDATE', deployment }

describe('an event', () => {
  it('DEPLOYMENT_CREATED publishes the outputs between “deploying” and “running”, then the log', async () => {
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
    expect(writes()).toEqual([
      'PUT /deployments/dep_1/status deploying',
      'PUT /deployments/dep_1/outputs',
      'PUT /deployments/dep_1/status running',
      'POST /deployments/dep_1/logs',
    ])
    expect(most).toBe(1)
    const keys = platform.calls.map(({ idempotencyKey }) => idempotencyKey?.replace(/\.[0-9a-f]{8}$/, ''))
    expect(keys).toEqual(['evt_1:status-deploying', 'evt_1:outputs', 'evt_1:status-running', 'evt_1:logs'])
    const logs = [{ level: 'info', message: 'Connected with [redacted].', data: { region: 'eu' } }]
    expect(record()).toMatchObject({ outputs, sensitive: ['token'], logs })
  })

  it('makes no callback without a deployment', async () => {
    const { handle, platform } = createHost()
    const download = { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' } }
    const reading = [{ name: 'HEALTH_CHECK' }, { name: 'METRIC_UPDATE' }, download, calling('count')]
    for (const event of [...reading, greet]) expect((await deliver(handle, event)).status).toBe(200)
    expect((await deliver(handle, calling('nothing'), { id: 'evt_1' })).status).toBe(404)
    expect(platform.calls).toEqual([])
  })

  it.each(['done', 'failed'])(
    'tells what it did with its status, or in the log, if it is %s',
    async (fate) => {
      const { handle, record } = createHost({
        async provider(_, { log }) {
          log.done('The greeter was made.')
          if (fate === 'failed') throw new IntegrationError('provider_error', 'It broke.')
        },
      })
      await deliver(handle, created)
      const logs = record()?.logs.map(({ message }) => message)
      const failure = ['The greeter was made.', 'DEPLOYMENT_CREATED: It broke.']
      expect(logs).toEqual(fate === 'failed' ? failure : [expect.stringContaining('Connected')])
      const message = fate === 'failed' ? undefined : 'The greeter was made.'
      expect(record()?.statusHistory.at(-1)?.message).toBe(message)
    },
  )
})

it('the id in the body counts if the header is empty', async () => {
  const { handle, platform } = createHost()
  await post(handle, JSON.stringify({ ...deleted, id: 'evt_2' }), { 'webhook-id': '' })
  expect(platform.calls[0]?.idempotencyKey).toMatch(/^evt_2:status-stopped\./)
})

it('each try of a delivery has new idempotency keys, so that the platform accepts the log of all', async () => {
  const { handle, platform, record } = createHost()
  platform.faults.add({ path: /outputs$/, status: 503 })
  const tries = [
    ['evt_1', 502],
    ['evt_1', 200],
    [undefined, 200],
    [undefined, 200],
  ] as const
  for (const [id, status] of tries) expect((await deliver(handle, created, { id })).status).toBe(status)
  expect(platform.calls.filter(({ status }) => status === 422)).toEqual([])
  expect(record()?.logs.map(({ level }) => level)).toEqual(['info', 'error', 'info', 'info', 'info'])
})

describe('a failed event', () => {
  it.each([
    ['credentials_rejected', 'failed', 'It said no. Replace the key.'],
    // The next delivery may succeed.
    ['provider_error', 'deploying', undefined],
  ] as const)(
    'with %s leaves the status “%s”, and tells the log what to do',
    async (code, status, message) => {
      const error = new IntegrationError(code, 'It said no.', { hint: 'Replace the key.' })
      const { handle, record } = createHost({ provider: failing(error) })
      await deliver(handle, created)
      const data = { code, retryable: status === 'deploying' }
      const logs = [{ level: 'error', message: 'DEPLOYMENT_CREATED: It said no. Replace the key.', data }]
      expect(record()).toMatchObject({ status, logs })
      expect(record()?.statusHistory.at(-1)?.message).toBe(message)
    },
  )

  it.each(['count', 'cuont'])(
    'writes the call “%s” to the log of the deployment, and no status',
    async (name) => {
      const error = new IntegrationError('credentials_rejected', 'It said no.')
      const { handle, writes } = createHost({ provider: failing(error) })
      await deliver(handle, { ...calling(name), deployment }, { id: 'evt_1' })
      expect(writes()).toEqual(['POST /deployments/dep_1/logs'])
    },
  )
})

describe('an event whose time ends', () => {
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))

  it('because the provider does not answer tells the platform why, in time', async () => {
    const host = createHost({
      timeoutMs: 10_000,
      fetch: silent,
      provider: async (_, { fetch, signal }) => {
        const error = new IntegrationError('provider_timeout', 'No answer.')
        await fetch('http://provider.test', { signal }).catch(() => Promise.reject(error))
      },
    })
    const began = Date.now()
    const { body, ended } = await inFakeTime(async () => {
      return { body: (await deliver(host.handle, created)).body, ended: Date.now() }
    })
    expect(body).toMatchObject({ code: 'provider_timeout' })
    expect(ended - began).toBeLessThan(10_000)
    expect(host.record()?.logs).toMatchObject([{ message: 'DEPLOYMENT_CREATED: No answer.' }])
  })

  it('because the platform does not answer fails', async () => {
    const emulator = createHost()
    const fetchRecord: typeof fetch = (input, init) =>
      (init?.method === 'GET' ? silent : emulator.platform.fetch)(input, init)
    const host = createHost({ timeoutMs: 10_000, platform: connectPlatform(fetchRecord) })
    const response = await inFakeTime(() => deliver(host.handle, { name: 'DEPLOYMENT_DELETED', deployment }))
    expect(response.body).toMatchObject({ code: 'platform_unavailable' })
    expect(emulator.record()?.logs).toMatchObject([{ level: 'error' }])
  })
})

describe('a callback that fails', () => {
  it.each([
    ['status', created],
    ['status', deleted],
    ['log', created],
    ['metrics', measure],
  ])('for the %s leaves a warning in the log, and does not fail its event', async (what, event) => {
    const host = createHost()
    host.platform.faults.add({ path: new RegExp(`${what}s?$`), status: 503, times: 10 })
    expect((await deliver(host.handle, event)).status).toBe(200)
    const message = expect.stringMatching(/^The platform did not receive the (status “\w+”|log|metrics)\.$/)
    const notes = expect.arrayContaining([expect.objectContaining({ level: 'warn', message })])
    expect(host.lines).toMatchObject([{ level: 'warn', facts: { notes } }])
  })

  it('for the files of a download fails it', async () => {
    const { handle, platform } = createHost()
    platform.faults.add({ path: /downloads/, cut: 'before' })
    const { body } = await deliver(handle, { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1' } })
    expect(body).toMatchObject({ code: 'platform_unavailable' })
  })
})

it('a metric that is not a number fails its event, and is not reported', async () => {
  const { handle, writes } = createHost({
    handlers: { metrics: async () => ({ greetings_sent: Number.NaN }) },
  })
  expect((await deliver(handle, measure)).body).toMatchObject({ code: 'internal_error' })
  expect(writes()).not.toContain('POST /deployments/dep_1/metrics')
})

it('a creation that can’t be discarded for a deployment that the platform lost fails', async () => {
  const host = createHost({
    provider: async ({ action }) => {
      if (action === 'discard') throw new IntegrationError('provider_error', 'It is away.')
    },
  })
  host.platform.removeDeployment('dep_1')
  expect((await deliver(host.handle, created)).body).toMatchObject({ code: 'provider_error' })
  expect(host.writes()).not.toContain('PUT /deployments/dep_1/status running')
})
