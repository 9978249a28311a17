import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { asFault, Refusal, reason } from '../src/testing/index.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { backend, requests, platform, shared, own, send, create, deployment, statuses, callers } = fixture

const ofDeployment = { deployment: { id: 'dep_1' } }
const outputsOf = ({ publishableKey, secretKey, frontendHost }: typeof shared) => ({
  publishableKey,
  secretKey,
  frontendApiUrl: `https://${frontendHost}`,
})

describe('DEPLOYMENT_CREATED', () => {
  it.each([{}, { serverType: 'shared' }, { serverType: ' ', publishableKey: '', secretKey: null }])(
    'attaches to the shared application, and publishes its keys: %j',
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
      const message = `Connected to the development instance ${shared.id}.`
      expect(deployment().logs).toMatchObject([{ level: 'info', message }])
    },
  )

  it('attaches to a dedicated application by its keys, even on a host without a shared one', async () => {
    const response = await create(fixture.ownInputs, fixture.handler({ shared: undefined }))
    expect(response).toMatchObject({ status: 200, body: { status: 'running', outputs: outputsOf(own) } })
    expect(deployment()).toMatchObject({ outputs: outputsOf(own), sensitive: ['secretKey'] })
    expect(callers()).toEqual([own.id, own.id])
  })

  it('resolves {{env.NAME}} in both keys', async () => {
    const environment = (name: string) => ({
      value: name === 'TENANT_PK' ? own.publishableKey : own.secretKey,
    })
    const keys = { publishableKey: '{{env.TENANT_PK}}', secretKey: '{{ env.TENANT_SK }}' }
    const response = await create({ serverType: 'dedicated', ...keys }, fixture.handler({ environment }))
    expect(response).toMatchObject({ status: 200, body: { outputs: outputsOf(own) } })
  })

  it.each([undefined, {}, { publishableKey: 'pk_test_x' }, { secretKey: 'sk_x', publishableKey: '' }])(
    'names the variables of the missing shared application: %j',
    async (given) => {
      expect(await create({}, fixture.handler({ shared: given }))).toMatchObject({
        status: 422,
        body: {
          code: 'missing_credentials',
          retryable: false,
          detail: expect.stringMatching(/IDP_SHARED_PUBLISHABLE_KEY.*IDP_SHARED_SECRET_KEY/),
        },
      })
      expect(statuses()).toEqual(['deploying', 'failed'])
      expect(requests).toEqual([])
    },
  )

  it('warns about keys that a shared deployment ignores', async () => {
    expect(await create({ secretKey: own.secretKey })).toMatchObject({ body: { outputs: outputsOf(shared) } })
    const warnings = deployment().logs.filter(({ level }) => level === 'warn')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('dedicated') }])
  })
})

it('DEPLOYMENT_DELETED leaves the application unchanged', async () => {
  await create(fixture.ownInputs)
  requests.length = 0
  const response = await send({ name: 'DEPLOYMENT_DELETED', ...ofDeployment })
  expect([response.status, response.body]).toEqual([200, { status: 'stopped' }])
  expect(requests).toEqual([])
})

describe('HEALTH_CHECK', () => {
  it('uses the shared key without a deployment', async () => {
    expect(await send({ name: 'HEALTH_CHECK' })).toMatchObject({ body: { status: 'healthy' } })
    expect(callers()).toEqual([shared.id])
    expect(requests.map(({ path }) => path)).toEqual(['/instance'])
  })

  it('uses the keys of the inputs before anything is published', async () => {
    platform.addDeployment({ id: 'dep_1', inputs: fixture.ownInputs })
    expect(await send({ name: 'HEALTH_CHECK', ...ofDeployment })).toMatchObject({
      body: { status: 'healthy' },
    })
    expect(callers()).toEqual([own.id])
  })

  it('reports a revoked key and a missing key as unhealthy, with the reason', async () => {
    shared.settings.secretKeyRevoked = true
    const unhealthy = (words: string) => ({
      status: 200,
      body: { status: 'unhealthy', checks: [{ healthy: false, message: expect.stringContaining(words) }] },
    })
    expect(await send({ name: 'HEALTH_CHECK' })).toMatchObject(unhealthy('revoked'))
    const missing = await deliver(fixture.handler({ shared: undefined }), { name: 'HEALTH_CHECK' })
    expect(missing).toMatchObject(unhealthy('IDP_SHARED_'))
  })
})

describe('METRIC_UPDATE', () => {
  const metrics = (users: number, organizations: number) => [
    { name: 'number_of_users', value: users },
    { name: 'number_of_organizations', value: organizations },
  ]

  it('counts the users and organizations of the deployment’s instance', async () => {
    await create()
    shared.createUsers(12)
    shared.createOrganizations(11)
    own.createUsers(1)
    const { status, body } = await send({ name: 'METRIC_UPDATE', ...ofDeployment })
    expect([status, body]).toEqual([200, { metrics: metrics(12, 11) }])
  })

  it('counts no organizations if they are disabled', async () => {
    shared.settings.organizationsEnabled = false
    shared.createUser()
    expect((await send({ name: 'METRIC_UPDATE' })).body).toEqual({ metrics: metrics(1, 0) })
  })

  it('fails if the provider refuses a count for another reason', async () => {
    const refusal = new Refusal(403, reason('plan_missing', 'not in the plan'))
    backend.faults.add({ path: /organizations$/, ...asFault(refusal) })
    expect(await send({ name: 'METRIC_UPDATE' })).toMatchObject({
      status: 422,
      body: { code: 'provider_rejected', provider: { status: 403, code: 'plan_missing' } },
    })
  })
})

describe('DOWNLOAD_STARTED', () => {
  it('generates .env.local by default, and sends it to the platform', async () => {
    await create(fixture.ownInputs)
    requests.length = 0
    const { body } = await send({ name: 'DOWNLOAD_STARTED', download: { id: 'dl_1' }, ...ofDeployment })
    expect(body).toMatchObject({ files: [{ path: '.env.local' }] })
    expect({ files: deployment().downloads.get('dl_1') }).toEqual(body)
    expect(JSON.stringify(body)).toContain(own.secretKey)
    expect(requests).toEqual([])
  })
})
