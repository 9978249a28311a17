import type { Egress } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { provider, requests, platform, send } = arrangement

const tokens = () => requests.map(({ headers }) => headers.get('x-mailer-server-token'))

/** Creates a deployment that the platform knows. */
function create(inputs: Record<string, unknown> = {}, handler = arrangement.handler()) {
  platform.addDeployment({ id: 'dep_1', inputs })
  return deliver(handler, { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } })
}

const deployment = () => platform.deployments.get('dep_1')
const statuses = () => deployment()?.statusHistory.map(({ status }) => status)

describe('WEBHOOK_CHALLENGE', () => {
  it('is echoed, without any call', async () => {
    expect(await send({ name: 'WEBHOOK_CHALLENGE', challenge: 'c_1' })).toMatchObject({
      status: 200,
      body: { challenge: 'c_1' },
    })
    expect([requests, platform.calls]).toEqual([[], []])
  })
})

describe('DEPLOYMENT_CREATED', () => {
  it.each([{}, { serverType: 'shared' }, { serverType: '', apiToken: null, fromEmail: ' ', baseUrl: '' }])(
    'connects %j to the shared server, and publishes what others need',
    async (inputs) => {
      const outputs = {
        apiToken: 'shared-token',
        fromEmail: 'Shop <shop@example.com>',
        apiUrl: arrangement.url,
        messageStream: 'outbound',
      }
      expect(await create(inputs)).toMatchObject({ status: 200, body: { status: 'running', outputs } })
      expect(deployment()).toMatchObject({ outputs, sensitive: ['apiToken'], status: 'running' })
      expect(statuses()).toEqual(['deploying', 'running'])
      expect(requests.map(({ path }) => path)).toEqual(['/server'])
      expect(tokens()).toEqual(['shared-token'])
    },
  )

  it('lets a shared deployment choose its sender and stream', async () => {
    const inputs = { fromEmail: 'me@example.com', messageStream: 'broadcast', baseUrl: `${arrangement.url}/` }
    expect(await create(inputs)).toMatchObject({
      body: { outputs: { fromEmail: 'me@example.com', messageStream: 'broadcast', apiUrl: arrangement.url } },
    })
  })

  it('connects a dedicated server with its own token, sender and base URL', async () => {
    const inputs = {
      serverType: 'dedicated',
      apiToken: ' dedicated-token\n',
      fromEmail: 'Me <me@example.com>',
      baseUrl: arrangement.url,
    }
    const asked: string[] = []
    const egress: Egress = {
      refuse: (url) => void asked.push(url.origin),
      fetch,
    }
    const elsewhere = arrangement.handler({ shared: undefined, baseUrl: 'http://nowhere.invalid', egress })
    const outputs = {
      apiToken: 'dedicated-token',
      fromEmail: 'Me <me@example.com>',
      apiUrl: arrangement.url,
      messageStream: 'outbound',
    }
    expect(await create(inputs, elsewhere)).toMatchObject({ body: { outputs } })
    expect(tokens()).toEqual(['dedicated-token'])
    expect(asked).toEqual([arrangement.url])
  })

  it.each([
    'http://127.0.0.1:1',
    'https://169.254.169.254/',
    'https://2130706433/',
    'https://[::1]/',
    'https://x.localhost',
  ])('takes no token to %s unless the host allows it', async (baseUrl) => {
    const answer = await create({ serverType: 'dedicated', apiToken: 'dedicated-token', baseUrl })
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.baseUrl' }] },
    })
  })

  it('resolves {{env.NAME}} in the token', async () => {
    const values = new Map([['TENANT_TOKEN', 'dedicated-token']])
    const environment = (name: string) => {
      const value = values.get(name)
      return value === undefined ? { problem: `names ${name}, which is not to be had` } : { value }
    }
    const handler = arrangement.handler({ environment })
    const inputs = { serverType: 'dedicated', apiToken: '{{env.TENANT_TOKEN}}' }
    expect((await create(inputs, handler)).status).toBe(200)
    expect(tokens()).toEqual(['dedicated-token'])

    expect(await create({ ...inputs, apiToken: '{{ env.OTHER }}' }, handler)).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.apiToken' }] },
    })
    expect(statuses()).toEqual(['deploying', 'failed'])
  })

  it('asks for the token that a dedicated server lacks', async () => {
    expect(await create({ serverType: 'dedicated' })).toMatchObject({
      status: 422,
      body: {
        code: 'missing_credentials',
        retryable: false,
        errors: [{ path: 'deployment.inputs.apiToken' }],
      },
    })
    expect(statuses()).toEqual(['deploying', 'failed'])
    expect(requests).toEqual([])
  })

  it('says what the host lacks where it has no shared server', async () => {
    const answer = await create({}, arrangement.handler({ shared: { fromEmail: 'shop@example.com' } }))
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'missing_credentials', detail: expect.stringContaining('MAILER_SHARED_API_TOKEN') },
    })
  })

  it('reports a token that the provider rejects, and publishes nothing', async () => {
    expect(await create({ serverType: 'dedicated', apiToken: 'wrong-token' })).toMatchObject({
      status: 422,
      headers: expect.any(Headers),
      body: {
        code: 'credentials_rejected',
        retryable: false,
        provider: { name: 'mailer', status: 401, code: '10' },
      },
    })
    expect(statuses()).toEqual(['deploying', 'failed'])
    expect(deployment()?.statusHistory.at(-1)?.message).toContain('Check the Server API Token')
    expect(deployment()).toMatchObject({ outputs: {}, logs: [{ level: 'error' }] })
  })

  it.each([
    [{ fromEmail: 'nobody' }, 'deployment.inputs.fromEmail'],
    [{ serverType: 'own' }, 'deployment.inputs.serverType'],
    [
      { serverType: 'dedicated', apiToken: 'a-token', baseUrl: 'ftp://x.example' },
      'deployment.inputs.baseUrl',
    ],
    [
      { serverType: 'dedicated', apiToken: 'a-token', baseUrl: 'https://me:pw@x.example' },
      'deployment.inputs.baseUrl',
    ],
  ])('refuses inputs that do not fit: %j', async (inputs, path) => {
    expect(await create(inputs)).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path }] },
    })
    expect(requests).toEqual([])
  })

  it('never takes the shared token to a server of the deployment’s choice', async () => {
    expect(await create({ baseUrl: 'https://mail.elsewhere.example' })).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.baseUrl' }] },
    })
    expect(requests).toEqual([])
  })

  it('warns where there is no sender, and does not fail', async () => {
    const handler = arrangement.handler({ shared: { apiToken: 'shared-token', fromEmail: '' } })
    provider.settings.server = { DeliveryType: 'Live' }
    const answer = await create({}, handler)
    expect(answer).toMatchObject({ status: 200, body: { status: 'running' } })
    expect(answer.body).not.toHaveProperty('outputs.fromEmail')
    const warnings = deployment()?.logs.filter(({ level }) => level !== 'info')
    expect(warnings).toMatchObject([{ level: 'warn', message: expect.stringContaining('fromEmail') }])

    const functionCall = { name: 'getDeliveryStats' }
    const stats = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    expect((await deliver(handler, stats)).status).toBe(200)
  })

  it('warns of a server that delivers nothing', async () => {
    await create()
    expect(deployment()?.logs).toMatchObject([
      { level: 'info', message: expect.stringContaining('Emulated server') },
      { level: 'warn', message: expect.stringContaining('sandbox') },
    ])
  })
})

describe('DEPLOYMENT_DELETED', () => {
  it('stops, and touches nothing at the provider', async () => {
    await create()
    requests.length = 0
    const answer = await send({ name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1' } })
    expect(answer).toMatchObject({ status: 200, body: { status: 'stopped' } })
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
    expect(requests).toEqual([])
  })
})

describe('HEALTH_CHECK', () => {
  const checks = (healthy: boolean, message?: unknown) => [
    { name: 'provider', healthy, latencyMs: expect.any(Number), ...(message ? { message } : {}) },
  ]

  it('asks for the server with the shared token where no deployment is named', async () => {
    const { status, body } = await send({ name: 'HEALTH_CHECK' })
    expect([status, body]).toEqual([200, { status: 'healthy', checks: checks(true) }])
    expect(requests.map(({ path }) => path)).toEqual(['/server'])
  })

  it('asks with what the deployment published', async () => {
    await create({ serverType: 'dedicated', apiToken: 'dedicated-token' })
    expect((await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } })).body).toMatchObject({
      status: 'healthy',
    })
    expect(tokens()).toEqual(['dedicated-token', 'dedicated-token'])
    expect(deployment()?.status).toBe('running')
  })

  it('finds a provider unhealthy, which is a success, and tells the platform why', async () => {
    await create()
    provider.settings.apiTokens = []
    const { status, body } = await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } })
    const message = expect.stringContaining('does not accept the token')
    expect([status, body]).toEqual([200, { status: 'unhealthy', checks: checks(false, message) }])
    expect(deployment()?.statusHistory.at(-1)).toMatchObject({ status: 'unhealthy', message })
  })

  it('finds missing credentials unhealthy too', async () => {
    const answer = await deliver(arrangement.handler({ shared: undefined }), { name: 'HEALTH_CHECK' })
    expect(answer).toMatchObject({ status: 200, body: { status: 'unhealthy' } })
  })
})

describe('METRIC_UPDATE', () => {
  it('answers with the provider’s totals, and reports them', async () => {
    await create()
    provider.settings.stats = { Sent: 615, Bounced: 64, SpamComplaints: 10 }
    const metrics = [
      { name: 'emails_sent', value: 615 },
      { name: 'emails_bounced', value: 64 },
      { name: 'bounce_rate', value: 10.407, unit: 'percent' },
      { name: 'spam_complaints', value: 10 },
    ]
    const { status, body } = await send({ name: 'METRIC_UPDATE', deployment: { id: 'dep_1' } })
    expect([status, body]).toEqual([200, { metrics }])
    expect(deployment()?.metrics).toEqual(
      metrics.map((metric) => ({ ...metric, timestamp: expect.any(String) })),
    )
  })
})

describe('DOWNLOAD_STARTED', () => {
  it('is ignored', async () => {
    const answer = await send({ name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' } })
    expect(answer).toMatchObject({ status: 200, body: { status: 'ignored', reason: expect.any(String) } })
    expect(requests).toEqual([])
  })
})
