import { deliver } from '@org/core/testing'
import { asFault, parameterReason, Refusal } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import { applicationsPath, hostToken, only, tenantToken } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, requests, asked, platform, send, create, deployment, statuses, logged } = fixture

const application = () => only(provider.applications.values())
const tokens = () => requests.map(({ headers }) => headers.get('authorization')?.replace('Bearer ', ''))
/** The bodies of the creates. */
const created = () =>
  requests.filter(({ method }) => method === 'POST').map(({ text }): unknown => JSON.parse(text))

const refusal = (error: object) => ({ status: 422, body: { code: 'invalid_inputs', errors: [error] } })

describe('DEPLOYMENT_CREATED', () => {
  it('creates an application, and publishes five outputs, of which the secret key is sensitive', async () => {
    const { status, body } = await create()
    const { applicationId, instances } = application()
    const { id, publishableKey, secretKey, frontendHost } = only(instances)
    const outputs = {
      applicationId,
      instanceId: id,
      publishableKey,
      secretKey,
      frontendApiUrl: `https://${frontendHost}`,
    }
    expect([status, body]).toEqual([200, { status: 'running', outputs }])
    expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
    expect(created()).toEqual([{ name: 'Shop', environment_types: ['development'] }])
    expect(deployment()?.statusHistory.at(-1)?.message).toContain(applicationId)
    expect(logged('warn')).toEqual([])
  })

  it.each([
    ['host', '  ', hostToken],
    ['deployment', ` ${tenantToken}\n`, tenantToken],
  ])('uses the token of the %s', async (_of, platformApiKey, token) => {
    expect((await create({ platformApiKey })).status).toBe(200)
    expect(new Set(tokens())).toEqual(new Set([token]))
  })

  it('names the variable and the input of a missing token', async () => {
    const using = fixture.handler({ platformApiKey: undefined })
    const deployment = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
    expect(await deliver(using, { name: 'DEPLOYMENT_CREATED', deployment })).toMatchObject({
      status: 422,
      body: {
        code: 'missing_credentials',
        detail: expect.stringContaining('IDP_PLATFORM_API_KEY'),
        errors: [{ path: 'deployment.inputs.platformApiKey' }],
      },
    })
    expect(requests).toEqual([])
  })

  it('reports an error of the provider at the input’s own name', async () => {
    const error = parameterReason('form_param_value_invalid', 'environment_types', 'is invalid')
    provider.faults.add({ method: 'POST', ...asFault(new Refusal(422, error)) })
    const errors = [{ path: 'environmentTypes', message: 'is invalid' }]
    expect(await create()).toMatchObject({ status: 422, body: { errors, provider: { status: 422 } } })
  })

  it('creates a production instance from the template on the domain, with live keys', async () => {
    const template = 'waitlist'
    const domain = 'shop.example.com'
    const { body } = await create({ environmentType: 'production', domain: ` ${domain}`, template })
    expect(created()).toEqual([{ name: 'Shop', environment_types: ['production'], domain, template }])
    expect(body).toMatchObject({
      outputs: {
        publishableKey: expect.stringMatching(/^pk_live_/),
        secretKey: expect.stringMatching(/^sk_live_/),
        frontendApiUrl: 'https://clerk.shop.example.com',
      },
    })
    expect(logged('warn')).toEqual([])
  })

  it.each([
    [undefined, 'is required with environmentType production'],
    ['', 'is required with environmentType production'],
    ['https://example.com', 'expected a domain such as example.com'],
    ['localhost', 'expected a domain such as example.com'],
    ['-a.example', 'expected a domain such as example.com'],
  ])('refuses production with the domain %j', async (domain, message) => {
    const error = { path: 'deployment.inputs.domain', message }
    expect(await create({ environmentType: 'production', domain })).toMatchObject(refusal(error))
    expect(requests).toEqual([])
    expect(statuses()).toEqual(['deploying', 'failed'])
  })

  it.each(['shop.example.com', 'not a domain'])(
    'ignores the domain “%s” in development, and warns',
    async (domain) => {
      expect((await create({ domain })).status).toBe(200)
      expect(created()).toEqual([{ name: 'Shop', environment_types: ['development'] }])
      expect(logged('warn')).toEqual([
        expect.stringMatching(/“domain” has no effect.*environmentType production/),
      ])
    },
  )

  it.each([
    ['an unknown template', { template: 'b2b' }, 'template'],
    ['an unknown environment', { environmentType: 'staging' }, 'environmentType'],
    ['a blank name', { applicationName: ' ' }, 'applicationName'],
    ['a name that is too long', { applicationName: 'a'.repeat(256) }, 'applicationName'],
  ])('refuses %s', async (_what, inputs, name) => {
    expect(await create(inputs)).toMatchObject(refusal({ path: `deployment.inputs.${name}` }))
    expect(requests).toEqual([])
  })

  it.each(['development', 'production'] as const)(
    'uses the %s instance of several',
    async (environmentType) => {
      const environment_types: ('development' | 'production')[] = ['development', 'production']
      const fields = { name: 'Shop', domain: 'shop.example.com', environment_types }
      const { applicationId, instances } = provider.addApplication(fields)
      const inputs = { applicationName: 'Shop', environmentType, domain: fields.domain }
      const deployment = { id: 'dep_1', inputs, outputs: { applicationId } }
      platform.addDeployment({ id: 'dep_1', inputs })
      const instance = instances.find((one) => one.environmentType === environmentType)
      expect((await send({ name: 'DEPLOYMENT_CREATED', deployment })).body).toMatchObject({
        outputs: { instanceId: instance?.id, frontendApiUrl: `https://${instance?.frontendHost}` },
      })
    },
  )

  it('reads the keys again if the response to the create lacks them', async () => {
    provider.settings.secretKeysOnCreate = false
    const { body } = await create()
    const { applicationId, instances } = application()
    expect(body).toMatchObject({ outputs: { secretKey: only(instances).secretKey } })
    expect(asked().at(-1)).toBe(`GET ${applicationsPath}/${applicationId}?include_secret_keys=true`)
  })

  it('reports an invalid publishable key as a fault of the provider', async () => {
    const keys = { publishable_key: 'pk_test_?', secret_key: 'sk_test_secret' }
    const instances = [{ instance_id: 'ins_1', environment_type: 'development', ...keys }]
    const body = { application_id: 'app_1', name: 'Shop', instances }
    provider.faults.add({ method: 'POST', status: 200, body })
    const response = await create()
    expect(response).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect(response.body).not.toHaveProperty('errors')
  })

  it.each([
    ['host', hostToken, {}],
    ['deployment', tenantToken, { platformApiKey: tenantToken }],
  ])('never repeats the token of the %s, even if the provider quotes it', async (_of, token, inputs) => {
    const errors = [{ code: 'not_allowed', message: `The key ${token} may not do this.` }]
    provider.faults.add({ path: /platform/, times: 10, status: 403, body: { errors } })
    const { body } = await create(inputs)
    expect(body).toMatchObject({ provider: { message: 'The key [redacted] may not do this.' } })
    expect(JSON.stringify(body)).not.toContain(token)
  })
})
