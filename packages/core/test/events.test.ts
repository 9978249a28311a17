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
  type Host,
  inFakeTime,
  outputs,
  type ProviderCall,
  post,
} from './fixtures.ts'

describe('an event', () => {
  it('DEPLOYMENT_CREATED publishes the outputs between “deploying” and “running”, then the log', async () => {
    const { handle, record, writes } = createHost()
    const { status, body, headers } = await deliver(handle, created)
    expect({ status, body }).toEqual({ status: 200, body: { status: 'running', outputs } })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.has('idempotency-replayed')).toBe(false)
    expect(writes()).toEqual([
      'PUT /deployments/dep_1/status deploying',
      'PUT /deployments/dep_1/outputs',
      'PUT /deployments/dep_1/status running',
      'POST /deployments/dep_1/logs',
    ])
    expect(record()).toMatchObject({
      outputs,
      sensitive: ['token'],
      logs: [{ level: 'info', message: 'Connected with [redacted].', data: { region: 'eu' } }],
    })
  })

  it('makes one callback at a time, so that a slow one is not overtaken', async () => {
    const { platform, writes } = createHost()
    let [underWay, most] = [0, 0]
    const slow: typeof fetch = async (...call) => {
      underWay += 1
      most = Math.max(most, underWay)
      await new Promise(setImmediate)
      underWay -= 1
      return platform.fetch(...call)
    }
    await deliver(createHost({ platform: connectPlatform(slow) }).handle, created)
    expect([most, writes().length]).toEqual([1, 4])
  })

  it('makes no callback without a deployment', async () => {
    const { handle, platform } = createHost()
    const download = { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' } }
    for (const event of [
      { name: 'HEALTH_CHECK' },
      { name: 'METRIC_UPDATE' },
      download,
      greet,
      calling('count'),
    ])
      expect((await deliver(handle, event)).status).toBe(200)
    expect((await deliver(handle, calling('nothing'), { id: 'evt_1' })).status).toBe(404)
    expect(platform.calls).toEqual([])
  })
})

describe('the idempotency key of a callback', () => {
  it('is the delivery id and the step', async () => {
    const { handle, platform } = createHost()
    await deliver(handle, { ...created, id: 'evt_of_the_body' }, { id: 'evt_1' })
    const keys = platform.calls.map(({ idempotencyKey }) => idempotencyKey?.replace(/\.[0-9a-f]{8}$/, ''))
    expect(keys).toEqual(['evt_1:status-deploying', 'evt_1:outputs', 'evt_1:status-running', 'evt_1:logs'])
  })

  it('is made of the id in the body if the header is empty', async () => {
    const { handle, platform } = createHost()
    await post(handle, JSON.stringify({ ...deleted, id: 'evt_2' }), { 'webhook-id': '' })
    expect(platform.calls[0]?.idempotencyKey).toMatch(/^evt_2:status-stopped\./)
  })

  it('is a new one for each delivery without an id', async () => {
    const { handle, platform } = createHost()
    await deliver(handle, deleted)
    await deliver(handle, deleted)
    expect(new Set(platform.calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2)
  })

  it('is a new one for each try of a delivery, so that the platform accepts the log of both', async () => {
    const { handle, platform, record } = createHost()
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(502)
    expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
    expect(platform.calls.filter(({ status }) => status === 422)).toEqual([])
    expect(record()?.logs.map(({ level }) => level)).toEqual(['info', 'error', 'info'])
  })
})

describe('what an event did', () => {
  const doing = (fate?: IntegrationError) =>
    createHost({
      async provider(_, { log }) {
        log.done('The greeter was made.')
        if (fate) throw fate
      },
    })
  const logOf = (record: ReturnType<typeof doing>['record']) => record()?.logs.map(({ message }) => message)

  it('goes with its status, without a call of its own', async () => {
    const { handle, record } = doing()
    await deliver(handle, created)
    expect(record()?.statusHistory.at(-1)).toMatchObject({
      status: 'running',
      message: 'The greeter was made.',
    })
    expect(logOf(record)).not.toContain('The greeter was made.')
  })

  it('goes to the log, before its failure, if it fails after that', async () => {
    const { handle, record } = doing(new IntegrationError('provider_error', 'It broke.'))
    await deliver(handle, created)
    expect(logOf(record)).toEqual(['The greeter was made.', 'DEPLOYMENT_CREATED: It broke.'])
  })
})

describe('a failed event', () => {
  const no = (code: 'credentials_rejected' | 'provider_error') =>
    createHost({ provider: failing(new IntegrationError(code, 'It said no.', { hint: 'Replace the key.' })) })

  it('reports “failed” with a sentence to act on if a retry can’t help', async () => {
    const { handle, record } = no('credentials_rejected')
    await deliver(handle, created)
    const message = 'DEPLOYMENT_CREATED: It said no. Replace the key.'
    expect(record()).toMatchObject({ status: 'failed', logs: [{ level: 'error', message }] })
    expect(record()?.statusHistory.at(-1)?.message).toBe('It said no. Replace the key.')
  })

  it('leaves the status “deploying” if the next delivery may succeed', async () => {
    const { handle, record } = no('provider_error')
    await deliver(handle, created)
    const data = { code: 'provider_error', retryable: true }
    expect(record()).toMatchObject({ status: 'deploying', logs: [{ data }] })
  })

  it.each(['count', 'cuont'])(
    'writes the failed call “%s” to the log of the deployment, and leaves its status',
    async (name) => {
      const { handle, writes } = no('credentials_rejected')
      await deliver(handle, { ...calling(name), deployment }, { id: 'evt_1' })
      expect(writes()).toEqual(['POST /deployments/dep_1/logs'])
    },
  )
})

it('an event whose provider does not answer ends in time, and the platform learns why', async () => {
  const host = createHost({
    timeoutMs: 10_000,
    async provider(_, { fetch, signal }) {
      await fetch('http://provider.test', { signal })
    },
    fetch(_, init) {
      return new Promise((_, reject) =>
        init?.signal?.addEventListener('abort', () =>
          reject(new IntegrationError('provider_timeout', 'No answer.')),
        ),
      )
    },
  })
  const { response, milliseconds } = await inFakeTime(async () => {
    const began = Date.now()
    const response = await deliver(host.handle, created)
    return { response, milliseconds: Date.now() - began }
  })
  expect(response.body).toMatchObject({ code: 'provider_timeout' })
  expect(milliseconds).toBeLessThan(10_000)
  expect(host.record()?.logs).toMatchObject([{ message: 'DEPLOYMENT_CREATED: No answer.' }])
})

it('an event whose platform does not answer ends in time', async () => {
  const emulator = createHost()
  const silent: typeof fetch = (input, init) =>
    init?.method === 'GET'
      ? new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
      : emulator.platform.fetch(input, init)
  const host = createHost({ timeoutMs: 10_000, platform: connectPlatform(silent) })
  const response = await inFakeTime(() => deliver(host.handle, { name: 'DEPLOYMENT_DELETED', deployment }))
  expect(response.body).toMatchObject({ code: 'platform_unavailable' })
  expect(emulator.record()?.logs).toMatchObject([{ level: 'error' }])
})

it('a transport learns for whom a call is made, and until when: a callback has the rest of the time', async () => {
  const hints: { deployment: unknown; deadline: number }[] = []
  const look = (init: object = {}) =>
    hints.push({
      deployment: Reflect.get(init, 'deployment'),
      deadline: Number(Reflect.get(init, 'deadline')),
    })
  const { platform } = createHost()
  const host = createHost({
    provider: async (_, { fetch }) => void (await fetch('http://provider.test')),
    async fetch(_, init) {
      look(init)
      return new Response()
    },
    platform: connectPlatform((input, init) => {
      look(init)
      return platform.fetch(input, init)
    }),
  })
  const before = Date.now()
  await deliver(host.handle, created)
  expect(hints.map(({ deployment }) => deployment)).toEqual(Array(5).fill('dep_1'))
  const [deploying = 0, connect = 0, published] = hints.map(({ deadline }) => deadline)
  expect(published).toBe(deploying)
  expect(connect).toBeGreaterThan(before)
  expect(connect).toBeLessThan(deploying)
})

describe('a callback that fails', () => {
  it.each([
    { path: /status$/, event: created },
    { path: /status$/, event: deleted },
    { path: /logs$/, event: created },
    { path: /metrics$/, event: { name: 'METRIC_UPDATE', deployment } },
  ])('$path does not fail $event.name, and leaves a warning in the log', async ({ path, event }) => {
    const host = createHost()
    host.platform.faults.add({ path, status: 503, times: 10 })
    expect((await deliver(host.handle, event)).status).toBe(200)
    const warning = host.lines.find(({ level }) => level === 'warn')
    expect(warning?.message).toMatch(/^The platform did not receive the (status “\w+”|log|metrics)\.$/)
  })
})

it('a download whose files the platform did not get fails, and a metric that is not a number', async () => {
  const host = createHost({ handlers: { metrics: async () => ({ greetings_sent: Number.NaN }) } })
  host.platform.faults.add({ path: /downloads/, cut: 'before' })
  const download = { name: 'DOWNLOAD_STARTED', deployment, download: { id: 'dl_1' } }
  expect((await deliver(host.handle, download)).body).toMatchObject({ code: 'platform_unavailable' })
  const measured = await deliver(host.handle, { name: 'METRIC_UPDATE', deployment })
  expect(measured.body).toMatchObject({ code: 'internal_error' })
  expect(host.writes()).not.toContain('POST /deployments/dep_1/metrics')
})

describe('a platform that no longer knows the deployment', () => {
  const gone = () => {
    const host = createHost()
    host.platform.removeDeployment('dep_1')
    return host
  }
  const actions = ({ providerCalls }: Host) => providerCalls.map(({ action }) => action)

  it('makes DEPLOYMENT_CREATED ignored, without “running”, and discards what was made', async () => {
    const host = gone()
    expect(await deliver(host.handle, created)).toMatchObject({ status: 200, body: { status: 'ignored' } })
    expect(host.writes()).not.toContain('PUT /deployments/dep_1/status running')
    expect(actions(host)).toEqual(['connect', 'discard'])
  })

  it('fails DEPLOYMENT_CREATED if what was made can’t be discarded', async () => {
    const provider = async ({ action }: ProviderCall) => {
      if (action === 'discard') throw new IntegrationError('provider_error', 'It is away.')
    }
    const { handle, platform } = createHost({ provider })
    platform.removeDeployment('dep_1')
    expect(await deliver(handle, created)).toMatchObject({ status: 502, body: { code: 'provider_error' } })
  })
})
