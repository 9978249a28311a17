import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { asFault, Refusal, reason } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { backend, requests, platform, shared, own, send, create, deployment, statuses, callers } = arrangement

const ofDeployment = { deployment: { id: 'dep_1' } }
const outputsOf = ({ publishableKey, secretKey, frontendHost }: typeof shared) => ({
  publishableKey,
  secretKey,
  frontendApiUrl: `https://${frontendHost}`,
})

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
  it.each([{}, { serverType: 'shared' }, { serverType: ' ', publishableKey: '', secretKey: null }])(
    'attaches %j to the shared application, and publishes its keys',
    async (inputs) => {
      const outputs = outputsOf(shared)
      const { status, body } = await create(inputs)
      expect([status, body]).toEqual([200, { status: 'running', outputs }])
      expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
      expect(statuses()).toEqual(['deploying', 'running'])
      expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
        'GET /instance',
        'GET /domains',
      ])
      expect(callers()).toEqual([shared.id, shared.id])
      expect(deployment().logs).toMatchObject([
        { level: 'info', message: expect.stringContaining(`development instance ${shared.id}`) },
      ])
    },
  )

  it('attaches a dedicated application by its own keys, also on a host without a shared one', async () => {
    const answer = await create(arrangement.ownInputs, arrangement.handler({ shared: undefined }))
    expect(answer).toMatchObject({ status: 200, body: { status: 'running', outputs: outputsOf(own) } })
    expect(deployment()).toMatchObject({ outputs: outputsOf(own), sensitive: ['secretKey'] })
    expect(callers()).toEqual([own.id, own.id])
  })

  it('resolves {{env.NAME}} in both keys', async () => {
    const values = new Map([
      ['TENANT_PK', own.publishableKey],
      ['TENANT_SK', own.secretKey],
    ])
    const environment = (name: string) => {
      const value = values.get(name)
      return value === undefined ? { problem: `names ${name}, which is not to be had` } : { value }
    }
    const handler = arrangement.handler({ environment })
    const inputs = {
      serverType: 'dedicated',
      publishableKey: '{{env.TENANT_PK}}',
      secretKey: '{{ env.TENANT_SK }}',
    }
    expect(await create(inputs, handler)).toMatchObject({ status: 200, body: { outputs: outputsOf(own) } })

    expect(await create({ ...inputs, secretKey: '{{env.OTHER}}' }, handler)).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.secretKey' }] },
    })
    expect(statuses()).toEqual(['deploying', 'failed'])
  })

  it.each([
    undefined,
    {},
    { publishableKey: shared.publishableKey },
    { secretKey: shared.secretKey, publishableKey: '' },
  ])('names the variables that a host without a shared application lacks', async (given) => {
    expect(await create({}, arrangement.handler({ shared: given }))).toMatchObject({
      status: 422,
      body: {
        code: 'missing_credentials',
        retryable: false,
        detail: expect.stringMatching(/IDP_SHARED_PUBLISHABLE_KEY.*IDP_SHARED_SECRET_KEY/),
      },
    })
    expect(statuses()).toEqual(['deploying', 'failed'])
    expect(requests).toEqual([])
  })

  it('warns of keys that a shared deployment does not use', async () => {
    const { secretKey } = own
    expect(await create({ secretKey })).toMatchObject({ body: { outputs: outputsOf(shared) } })
    const warnings = deployment().logs.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('dedicated') }])
  })

  it('refuses a server type that there is not', async () => {
    expect(await create({ serverType: 'own' })).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.serverType' }] },
    })
  })

  it('may be tried again where the provider is down, and publishes nothing until then', async () => {
    backend.faults.add({ status: 503, headers: { 'retry-after': '60' } })
    const first = await create(arrangement.ownInputs)
    expect(first).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect([statuses(), deployment().outputs]).toEqual([['deploying'], {}])
    expect((await create(arrangement.ownInputs)).status).toBe(200)
  })
})

describe('DEPLOYMENT_DELETED', () => {
  it('stops, and leaves the application as it is', async () => {
    await create(arrangement.ownInputs)
    requests.length = 0
    const answer = await send({ name: 'DEPLOYMENT_DELETED', ...ofDeployment })
    expect([answer.status, answer.body]).toEqual([200, { status: 'stopped' }])
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
    expect(requests).toEqual([])
  })
})

describe('HEALTH_CHECK', () => {
  const checks = (healthy: boolean, message?: unknown) => [
    { name: 'provider', healthy, latencyMs: expect.any(Number), ...(message ? { message } : {}) },
  ]

  it('asks with the shared key where no deployment is named', async () => {
    const { status, body } = await send({ name: 'HEALTH_CHECK' })
    expect([status, body]).toEqual([200, { status: 'healthy', checks: checks(true) }])
    expect(callers()).toEqual([shared.id])
    expect(requests.map(({ path }) => path)).toEqual(['/instance'])
  })

  it('finds a provider that can’t be reached unhealthy, which is a success', async () => {
    await create()
    backend.faults.add({ status: 503, headers: { 'retry-after': '600' } })
    const { status, body } = await send({ name: 'HEALTH_CHECK', ...ofDeployment })
    const message = expect.stringContaining('The identity provider failed')
    expect([status, body]).toEqual([200, { status: 'unhealthy', checks: checks(false, message) }])
    expect(deployment().statusHistory.at(-1)).toMatchObject({ status: 'unhealthy', message })
  })

  it('finds a revoked key unhealthy, and one that is missing', async () => {
    shared.settings.secretKeyRevoked = true
    const revoked = await send({ name: 'HEALTH_CHECK' })
    const missing = await deliver(arrangement.handler({ shared: undefined }), { name: 'HEALTH_CHECK' })
    expect(revoked).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', checks: checks(false, expect.stringContaining('revoked')) },
    })
    expect(missing).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', checks: checks(false, expect.stringContaining('IDP_SHARED_')) },
    })
  })
})

describe('the keys of an event are', () => {
  it('those that the deployment published, read from the platform where the event has none', async () => {
    await create(arrangement.ownInputs)
    requests.length = 0
    backend.calls.length = 0
    for (const event of [
      { name: 'HEALTH_CHECK' },
      { name: 'METRIC_UPDATE' },
      { name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } },
    ]) {
      expect((await send({ ...event, ...ofDeployment })).status).toBe(200)
    }
    expect(new Set(callers())).toEqual(new Set([own.id]))
  })

  it('those that the event carries, without asking the platform', async () => {
    platform.addDeployment({ id: 'dep_1' })
    const { status } = await send({
      name: 'FUNCTION_CALL',
      deployment: { id: 'dep_1', outputs: outputsOf(own) },
      functionCall: { name: 'countUsers' },
    })
    expect([status, callers()]).toEqual([200, [own.id]])
    expect(platform.calls.filter(({ method }) => method === 'GET')).toEqual([])
  })

  it('those of the inputs where nothing was published yet', async () => {
    platform.addDeployment({ id: 'dep_1', inputs: arrangement.ownInputs })
    expect(await send({ name: 'HEALTH_CHECK', ...ofDeployment })).toMatchObject({
      body: { status: 'healthy' },
    })
    expect(callers()).toEqual([own.id])
  })
})

describe('METRIC_UPDATE', () => {
  it('counts users and organizations, and reports them', async () => {
    await create()
    shared.createUsers(12)
    shared.createOrganizations(11)
    own.createUsers(1)
    const metrics = [
      { name: 'number_of_users', value: 12 },
      { name: 'number_of_organizations', value: 11 },
    ]
    const { status, body } = await send({ name: 'METRIC_UPDATE', ...ofDeployment })
    expect([status, body]).toEqual([200, { metrics }])
    const timestamp = expect.any(String)
    expect(deployment().metrics).toEqual(metrics.map((metric) => ({ ...metric, timestamp })))
  })

  it('counts no organizations where the instance does not use them', async () => {
    shared.settings.organizationsEnabled = false
    shared.createUser()
    expect((await send({ name: 'METRIC_UPDATE' })).body).toEqual({
      metrics: [
        { name: 'number_of_users', value: 1 },
        { name: 'number_of_organizations', value: 0 },
      ],
    })
  })

  it('reports nothing where a count is refused for another reason', async () => {
    const refusal = new Refusal(403, reason('plan_missing', 'not in the plan'))
    backend.faults.add({ path: /organizations$/, ...asFault(refusal) })
    expect(await send({ name: 'METRIC_UPDATE' })).toMatchObject({
      status: 422,
      body: { code: 'provider_rejected', provider: { status: 403, code: 'plan_missing' } },
    })
  })
})

describe('DOWNLOAD_STARTED', () => {
  it('generates .env.local where no file is named, and tells the platform', async () => {
    await create(arrangement.ownInputs)
    requests.length = 0
    const { status, body } = await send({
      name: 'DOWNLOAD_STARTED',
      download: { id: 'dl_1' },
      ...ofDeployment,
    })
    expect([status, body]).toMatchObject([200, { files: [{ path: '.env.local' }] }])
    expect({ files: deployment().downloads.get('dl_1') }).toEqual(body)
    expect(JSON.stringify(body)).toContain(own.secretKey)
    expect(requests).toEqual([])
  })

  it('generates middleware.ts, with the shared application too', async () => {
    const { body } = await send({ name: 'DOWNLOAD_STARTED', download: { file: 'middleware.ts' } })
    expect(body).toMatchObject({ files: [{ path: 'middleware.ts', contentType: /typescript/ }] })
  })

  it('knows no other file', async () => {
    expect(await send({ name: 'DOWNLOAD_STARTED', download: { file: 'middleware.js' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_event', detail: expect.stringContaining('did you mean “middleware.ts”?') },
    })
  })
})
