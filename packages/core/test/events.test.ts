import { describe, expect, it } from 'vitest'
import { IntegrationError } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, deleted, token } from './example.ts'

const deployment = { id: 'dep_1' }
const outputs = { token, region: 'eu' }

describe('each event', () => {
  it('WEBHOOK_CHALLENGE is answered with its challenge, or with “ok” where it has none', async () => {
    const { handle, told } = createHost()
    const name = 'WEBHOOK_CHALLENGE'
    expect(await deliver(handle, { name, challenge: 'c_9f', deployment })).toMatchObject({
      status: 200,
      body: { challenge: 'c_9f' },
    })
    expect((await deliver(handle, { name, challenge: '' })).body).toEqual({ challenge: '' })
    expect((await deliver(handle, { name })).body).toEqual({ status: 'ok' })
    expect(told()).toEqual([])
  })

  it('DEPLOYMENT_CREATED publishes the outputs between “deploying” and “running”, then the log', async () => {
    const { handle, platform, told } = createHost()
    const { status, body, headers } = await deliver(handle, created)
    expect({ status, body }).toEqual({ status: 200, body: { status: 'running', outputs } })
    expect(headers.get('content-type')).toBe('application/json')
    expect(headers.has('idempotency-replayed')).toBe(false)
    expect(told()).toEqual([
      'PUT /deployments/dep_1/status deploying',
      'PUT /deployments/dep_1/outputs',
      'PUT /deployments/dep_1/status running',
      'POST /deployments/dep_1/logs',
    ])
    expect(platform.deployments.get('dep_1')).toMatchObject({
      outputs,
      sensitive: ['token'],
      logs: [{ level: 'info', message: 'Connected with [redacted].', data: { region: 'eu' } }],
    })
  })

  it('DEPLOYMENT_DELETED reports “stopped”', async () => {
    const { handle, asked, told } = createHost()
    expect((await deliver(handle, deleted)).body).toEqual({ status: 'stopped' })
    expect(asked).toEqual([{ action: 'disconnect', token }])
    expect(told()).toEqual(['PUT /deployments/dep_1/status stopped'])
  })

  it('HEALTH_CHECK of a provider that answers is healthy, and the deployment is “running”', async () => {
    const { handle, told } = createHost()
    expect((await deliver(handle, { name: 'HEALTH_CHECK', deployment })).body).toEqual({
      status: 'healthy',
      checks: [{ name: 'provider', healthy: true, latencyMs: expect.any(Number) }],
    })
    expect(told()).toEqual(['PUT /deployments/dep_1/status running'])
  })

  it('HEALTH_CHECK of a provider that fails is answered with 200 and “unhealthy”', async () => {
    const provider = async () => {
      throw new IntegrationError('provider_error', 'It is away.', { hint: 'Wait.' })
    }
    const { handle, platform } = createHost({ provider })
    const { status, body } = await deliver(handle, { name: 'HEALTH_CHECK', deployment })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'unhealthy',
      checks: [{ name: 'provider', healthy: false, message: 'It is away. Wait.' }],
    })
    expect(platform.calls.map((call) => call.body)).toEqual([
      { status: 'unhealthy', message: 'It is away. Wait.' },
    ])
  })

  it('METRIC_UPDATE answers and reports every metric, with the time', async () => {
    const now = () => Date.UTC(2026, 10, 20, 9)
    const { handle, platform } = createHost({ now })
    const metrics = [
      { name: 'greetings_sent', value: 3, unit: 'greetings' },
      { name: 'people_greeted', value: 2 },
    ]
    expect((await deliver(handle, { name: 'METRIC_UPDATE', deployment })).body).toEqual({ metrics })
    const timestamp = '2026-11-20T09:00:00.000Z'
    expect(platform.calls).toMatchObject([
      {
        method: 'POST',
        path: '/deployments/dep_1/metrics',
        body: { metrics: metrics.map((metric) => ({ ...metric, timestamp })) },
      },
    ])
  })

  it('DOWNLOAD_STARTED answers the file, and hands it over under the id of the download', async () => {
    const { handle, platform } = createHost()
    const event = {
      name: 'DOWNLOAD_STARTED',
      deployment: { id: 'dep_1', outputs },
      download: { id: 'dl_1', file: 'middleware.ts' },
    }
    const files = [{ path: 'middleware.ts', contentType: 'text/plain', content: `TOKEN=${token}\n` }]
    expect((await deliver(handle, event)).body).toEqual({ files })
    expect(platform.deployments.get('dep_1')?.downloads.get('dl_1')).toEqual(files)
  })

  it.each([undefined, {}, { id: 'dl_1' }])('DOWNLOAD_STARTED with %j means .env.local', async (download) => {
    const { handle } = createHost()
    const { body } = await deliver(handle, { name: 'DOWNLOAD_STARTED', deployment, download })
    expect(body).toMatchObject({ files: [{ path: '.env.local' }] })
  })

  it.each(['sendGreeting', 'greet'])('FUNCTION_CALL runs “%s”, and reports nothing', async (name) => {
    const { handle, asked, told } = createHost()
    const event = { ...calling(name, { to: 'Ada' }), deployment: { id: 'dep_1', outputs } }
    expect((await deliver(handle, event)).body).toEqual({ result: { id: 'greeting-to-Ada' } })
    expect(asked).toEqual([{ action: 'greet', to: 'Ada', token }])
    expect(told()).toEqual([])
  })

  it('FUNCTION_CALL takes a function without arguments', async () => {
    const { handle } = createHost()
    expect((await deliver(handle, calling('count'))).body).toEqual({ result: { count: 3 } })
  })
})

describe('the idempotency key of a write', () => {
  it('is the delivery’s id and the step', async () => {
    const { handle, platform } = createHost()
    await deliver(handle, { ...created, id: 'evt_of_the_body' }, { id: 'evt_1' })
    const keys = platform.calls.map(({ idempotencyKey }) => idempotencyKey?.replace(/\.[0-9a-f]{8}$/, ''))
    expect(keys).toEqual(['evt_1:status-deploying', 'evt_1:outputs', 'evt_1:status-running', 'evt_1:logs'])
  })

  it.each([{}, { 'webhook-id': '' }])(
    'takes the id of the body where the headers are %j',
    async (headers) => {
      const { handle, platform } = createHost()
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ ...deleted, id: 'evt_2' }),
      }
      await handle(new Request('http://host.test', init))
      expect(platform.calls[0]?.idempotencyKey).toMatch(/^evt_2:status-stopped\./)
    },
  )

  it('is another one for each delivery without an id', async () => {
    const { handle, platform } = createHost()
    await deliver(handle, deleted)
    await deliver(handle, deleted)
    const keys = platform.calls.map(({ idempotencyKey }) => idempotencyKey)
    expect(new Set(keys).size).toBe(2)
  })

  it('is another one for each try of a delivery, so that the platform takes the log of both', async () => {
    const { handle, platform } = createHost()
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(502)
    expect((await deliver(handle, created, { id: 'evt_1' })).status).toBe(200)
    expect(platform.calls.filter(({ status }) => status === 422)).toEqual([])
    const levels = platform.deployments.get('dep_1')?.logs.map(({ level }) => level)
    expect(levels).toEqual(['info', 'error', 'info'])
  })
})

describe('a failed event', () => {
  const failing = (code: 'credentials_rejected' | 'provider_error') =>
    createHost({
      provider: async () => {
        throw new IntegrationError(code, 'It said no.', { hint: 'Replace the key.' })
      },
    })

  it('reports “failed” with a sentence to act on where a deployment can’t succeed any more', async () => {
    const { handle, platform } = failing('credentials_rejected')
    await deliver(handle, created)
    const record = platform.deployments.get('dep_1')
    expect(record).toMatchObject({
      status: 'failed',
      logs: [{ level: 'error', message: 'DEPLOYMENT_CREATED: It said no. Replace the key.' }],
    })
    expect(record?.statusHistory.at(-1)?.message).toBe('It said no. Replace the key.')
  })

  it('does not report “failed” where the next delivery may succeed', async () => {
    const { handle, platform } = failing('provider_error')
    await deliver(handle, created)
    expect(platform.deployments.get('dep_1')).toMatchObject({
      status: 'deploying',
      logs: [{ data: { code: 'provider_error', retryable: true } }],
    })
  })

  it.each([
    ['a failed call', calling('count')],
    ['a call of an unknown function', calling('cuont')],
  ])('that is %s is told to the log of the deployment, and its status stays', async (_, call) => {
    for (const id of [undefined, 'evt_1']) {
      const { handle, told } = failing('credentials_rejected')
      await deliver(handle, { ...call, deployment }, { id })
      expect(told()).toEqual(['POST /deployments/dep_1/logs'])
    }
  })
})

it.each([
  { name: 'HEALTH_CHECK' },
  { name: 'METRIC_UPDATE' },
  { name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' } },
  calling('greet', { to: 'Ada' }),
  calling('nothing'),
])('$name without a deployment makes no callback', async (event) => {
  const { handle, platform } = createHost()
  await deliver(handle, event, { id: 'evt_1' })
  expect(platform.calls).toEqual([])
})
