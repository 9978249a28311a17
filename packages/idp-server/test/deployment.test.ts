/** The life of a deployment: created, used, deployed again and deleted. */
import { memoryStore } from '@org/core'
import type { Fault } from '@org/core/testing'
import { asFault, parameterReason, Refusal } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import { hostToken, inputs, only, root, runWebhook, stopped, tenantToken } from './support.ts'

const fixture = runWebhook()
const { provider, requests, asked, credentials, platform, host } = fixture
const { create, remove, send, deployment, statuses, logged, application, creates, published } = fixture

/** The bodies of the creates. */
const created = () =>
  requests.filter(({ method }) => method === 'POST').map(({ text }): unknown => JSON.parse(text))
const refusal = (name: string, message: unknown = expect.any(String)) => ({
  status: 422,
  body: { code: 'invalid_inputs', errors: [{ path: `deployment.inputs.${name}`, message }] },
})
const cold = () => host({ store: memoryStore() })
const production = { environmentType: 'production', domain: 'shop.example.com' }

describe('DEPLOYMENT_CREATED', () => {
  it('creates an application, and publishes five outputs, of which the secret key is sensitive', async () => {
    const { body } = await create()
    const { applicationId, instances } = application()
    const { id: instanceId, publishableKey, secretKey, frontendHost } = only(instances)
    const frontendApiUrl = `https://${frontendHost}`
    const outputs = { applicationId, instanceId, publishableKey, secretKey, frontendApiUrl }
    expect(body).toEqual({ status: 'running', outputs })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
    expect(created()).toEqual([{ name: 'Shop', environment_types: ['development'] }])
    expect(deployment().statusHistory.at(-1)?.message).toContain(applicationId)
    expect(logged('warn')).toEqual([])
  })

  it.each([
    ['host', '  ', hostToken],
    ['deployment', ` ${tenantToken}\n`, tenantToken],
  ])('uses the token of the %s, also for the deletion', async (_of, platformApiKey, token) => {
    expect((await create({ platformApiKey })).status).toBe(200)
    expect(await cold().remove()).toMatchObject(stopped)
    expect(credentials()).toEqual([token])
  })

  it('names the variable and the input of a missing token', async () => {
    const detail = expect.stringContaining('IDP_PLATFORM_API_KEY')
    const errors = [{ path: 'deployment.inputs.platformApiKey' }]
    const body = { code: 'missing_credentials', detail, errors }
    expect(await host({ platformApiKey: undefined }).create()).toMatchObject({ status: 422, body })
    expect(requests).toEqual([])
  })

  it('creates a production instance from the template on the domain, with live keys', async () => {
    const { body } = await create({ ...production, domain: ' shop.example.com', template: 'waitlist' })
    const { domain } = production
    const sent = { name: 'Shop', environment_types: ['production'], domain, template: 'waitlist' }
    expect(created()).toEqual([sent])
    const keys = {
      publishableKey: /^pk_live_/,
      secretKey: /^sk_live_/,
      frontendApiUrl: /clerk\.shop\.example/,
    }
    for (const [name, pattern] of Object.entries(keys)) expect(Object(body).outputs[name]).toMatch(pattern)
    expect(logged('warn')).toEqual([])
  })

  it.each([
    ['domain', { environmentType: 'production' }, 'is required with environmentType production'],
    ['domain', { ...production, domain: 'localhost' }, 'expected a domain such as example.com'],
    ['template', { template: 'b2b' }],
    ['applicationName', { applicationName: ' ' }],
  ])('refuses the %s of %j', async (name, given, message: unknown = expect.any(String)) => {
    expect(await create(given)).toMatchObject(refusal(name, message))
    expect([statuses(), requests]).toEqual([['deploying', 'failed'], []])
  })

  it('ignores a domain in development, and warns', async () => {
    expect((await create({ domain: 'not a domain' })).status).toBe(200)
    expect(created()).toEqual([{ name: 'Shop', environment_types: ['development'] }])
    expect(logged('warn')).toEqual([expect.stringMatching(/“domain” has no effect.*environmentType prod/)])
  })

  it('reads the keys again if the response to the create lacks them', async () => {
    provider.settings.secretKeysOnCreate = false
    const { body } = await create()
    const { applicationId, instances } = application()
    expect(body).toMatchObject({ outputs: { secretKey: only(instances).secretKey } })
    expect(asked().at(-1)).toBe(`GET ${root}/${applicationId}?include_secret_keys=true`)
  })

  it('reports faults of the provider as such', async () => {
    const keys = { publishable_key: 'pk_test_?', secret_key: 'sk_test_secret' }
    const instances = [{ instance_id: 'ins_1', environment_type: 'development', ...keys }]
    const made = { application_id: 'app_1', name: 'Shop', instances }
    provider.faults.add({ method: 'POST', status: 200, body: made })
    const response = await create({}, { id: 'dep_2' })
    expect(response).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect(response.body).not.toHaveProperty('errors')
    const error = parameterReason('form_param_value_invalid', 'environment_types', 'is invalid')
    provider.faults.add({ method: 'POST', ...asFault(new Refusal(422, error)) })
    const errors = [{ path: 'environmentTypes', message: 'is invalid' }]
    expect(await create()).toMatchObject({ status: 422, body: { errors, provider: { status: 422 } } })
  })

  it('never repeats the token of its inputs, which the provider quotes', async () => {
    const errors = [{ code: 'no', message: `The key ${tenantToken} may not.` }]
    provider.faults.add({ path: /platform/, times: 10, status: 403, body: { errors } })
    const message = 'The key [redacted] may not.'
    expect((await create({ platformApiKey: tenantToken })).body).toMatchObject({ provider: { message } })
  })
})

describe('a redeploy', () => {
  it('renames the published application, even if the store has forgotten it', async () => {
    const first = await create()
    for (const { create } of [cold(), fixture])
      expect((await create({ applicationName: 'Renamed' })).body).toEqual(first.body)
    expect([creates(), application().name]).toEqual([1, 'Renamed'])
    expect(asked().filter((request) => request.startsWith('PATCH'))).toHaveLength(1)
  })

  it('keeps a name that its owner gave the application, until applicationName changes', async () => {
    await create()
    for (const [applicationName, byOwner, expected] of [
      ['Shop', 'Mine', 'Mine'],
      ['Market', 'Mine', 'Market'],
      ['Market', 'Ours', 'Ours'],
    ] as const) {
      application().name = byOwner
      expect((await create({ applicationName })).status).toBe(200)
      expect(application().name).toBe(expected)
    }
  })

  it('records and reserves an application that the store had forgotten', async () => {
    const { outputs } = Object((await create()).body)
    const again = cold()
    expect((await again.create({}, { outputs })).status).toBe(200)
    expect(await again.create({ template: 'waitlist' }, { outputs })).toMatchObject(refusal('template'))
    const foreign = { status: 422, body: { code: 'invalid_event' } }
    expect(await again.create({}, { id: 'dep_2', outputs })).toMatchObject(foreign)
  })

  it('reuses the application and instance of the event’s outputs, without a call to the platform', async () => {
    const environment_types: ('development' | 'production')[] = ['production', 'development']
    const { applicationId, instances } = provider.addApplication({ name: 'Shop', environment_types })
    const { body } = await create({}, { outputs: { applicationId } })
    const outputs = { applicationId, instanceId: instances[1]?.id }
    expect(body).toMatchObject({ status: 'running', outputs })
    expect(asked()).toEqual([`GET ${root}/${applicationId}?include_secret_keys=true`])
    expect(platform.calls.filter(({ method }) => method === 'GET')).toEqual([])
  })

  it.each([
    ['environmentType', {}, production],
    ['template', {}, { template: 'waitlist' }],
    ['domain', production, { ...production, domain: 'blog.example.com' }],
    ['applicationName', {}, { applicationName: '' }],
  ])('with another %s is refused, and leaves the deployment running', async (name, first, change) => {
    await create(first)
    platform.faults.add({ method: 'GET', path: /dep_1/, status: 503, times: 9 })
    const outputs = { ...deployment().outputs, secretKey: 'sk_test_revoked' }
    for (const carried of [{}, { outputs }])
      expect(await create(change, carried)).toMatchObject(refusal(name))
    expect([creates(), deployment().status]).toEqual([1, 'running'])
  })

  it('publishes what could not be published before, although the platform’s record can’t be read', async () => {
    platform.faults.add({ path: /outputs$/, status: 503 })
    const unpublished = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
    expect(await create({}, { eventId: 'evt_1' })).toMatchObject(unpublished)
    expect(deployment().outputs).toEqual({})
    platform.faults.add({ method: 'GET', path: /dep_1/, status: 503, times: 9 })
    expect((await create({}, { eventId: 'evt_1' })).body).toMatchObject({ status: 'running' })
    expect([creates(), published()]).toEqual([1, application().applicationId])
  })
})

describe('a deployment that the platform does not know', () => {
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
  /** The platform knows the deployment until its application is created. */
  const forgotten = () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {} })
  }

  it('gets an application as soon as the platform has committed it', async () => {
    const early = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
    expect(await send(event, 'evt_1')).toMatchObject(early)
    expect(creates()).toBe(0)
    platform.addDeployment({ id: 'dep_1', inputs })
    expect(await send(event, 'evt_1')).toMatchObject({ body: { status: 'running' } })
    expect([creates(), published()]).toEqual([1, application().applicationId])
  })

  it('leaves no application behind, and gets another one if it is known again', async () => {
    forgotten()
    expect((await send(event)).body).toMatchObject({ status: 'ignored' })
    expect([creates(), provider.applications.size]).toEqual([1, 0])
    expect((await create()).body).toMatchObject({ status: 'running' })
    expect([published(), statuses()]).toEqual([
      application().applicationId,
      ['deploying', 'deploying', 'running'],
    ])
  })

  it('loses its application in the next delivery if the provider refuses the first delete', async () => {
    forgotten()
    provider.faults.add({ method: 'DELETE', status: 403 })
    expect((await send(event, 'evt_1')).status).toBe(422)
    forgotten()
    expect((await send(event, 'evt_2')).body).toMatchObject({ status: 'ignored' })
    expect([creates(), provider.applications.size]).toEqual([1, 0])
  })

  it('keeps a published application until the deletion arrives', async () => {
    await create()
    const { outputs } = deployment()
    platform.removeDeployment('dep_1')
    for (const { send } of [fixture, cold()]) {
      const deployed = { ...event, deployment: { ...event.deployment, outputs } }
      expect((await send(deployed)).body).toMatchObject({ status: 'ignored' })
      expect(provider.applications.size).toBe(1)
    }
    expect(await remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })
})

describe('DEPLOYMENT_DELETED', () => {
  it('finds the application in the event’s outputs, the platform’s record, or the store', async () => {
    const other = provider.addApplication({ name: 'Blog' })
    const { applicationId } = provider.addApplication({ name: 'Shop' })
    expect(await cold().remove({ inputs: {}, outputs: { applicationId } })).toMatchObject(stopped)
    expect(asked()).toEqual(['GET', 'DELETE'].map((method) => `${method} ${root}/${applicationId}`))
    await create()
    expect(await cold().remove()).toMatchObject(stopped)
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect((await create({}, { id: 'dep_2' })).status).toBe(502)
    expect(await remove({ id: 'dep_2' })).toMatchObject(stopped)
    expect([...provider.applications.keys()]).toEqual([other.applicationId])
  })

  it('ignores invalid inputs other than the token', async () => {
    await create()
    const invalid = { applicationName: '', environmentType: 'staging', template: 7 }
    expect(await cold().remove({ inputs: invalid })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('succeeds if its response is lost, and if the list of a provider fails once', async () => {
    await create()
    provider.faults.add({ method: 'DELETE', cut: 'after' }, { method: 'GET', path: root, status: 503 })
    const { remove } = host({ store: memoryStore(), timeoutMs: 20_000.4 })
    expect(await remove()).toMatchObject(stopped)
    expect(requests.slice(2).map(({ method }) => method)).toEqual(['GET', 'DELETE', 'DELETE', 'GET', 'GET'])
  })

  it('stops with a warning if no application was recorded', async () => {
    platform.addDeployment({ id: 'dep_1' })
    for (const id of ['dep_1', 'dep_unknown']) expect(await remove({ id })).toMatchObject(stopped)
    expect(logged('warn')).toEqual([expect.stringContaining('there is none to delete')])
    expect(requests).toEqual([])
  })

  it('is told, with its time, to events that come after it', async () => {
    await create()
    const timestamp = '2026-11-20T09:00:00.000Z'
    await remove({ timestamp })
    const reason = expect.stringContaining(timestamp)
    expect((await create()).body).toMatchObject({ status: 'ignored', reason })
    const call = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall: { name: 'countUsers' } }
    const detail = expect.stringMatching(new RegExp(`${timestamp}.*later timestamp`))
    expect((await send(call)).body).toMatchObject({ code: 'deployment_deleted', detail })
  })

  it.each([true, false])('lets a later event begin anew; it carries the old outputs: %s', async (carries) => {
    await create({}, { timestamp: '2026-11-20T09:00:00Z' })
    const { outputs: old } = deployment()
    await remove({ timestamp: '2026-11-20T10:00:00Z' })
    const again = { timestamp: '2026-11-20T11:00:00Z' }
    platform.faults.add({ method: 'PUT', path: /outputs$/, status: 503, times: 9 })
    expect((await create({}, again)).status).toBe(502)
    platform.faults.clear()
    const { body } = await create({}, { ...again, outputs: carries ? old : undefined })
    expect(body).toMatchObject({ status: 'running' })
    expect(published()).toBe(application().applicationId)
    expect(published()).not.toBe(old.applicationId)
  })

  const later = { 'retry-after': '600' }
  const notFound = { status: 404, body: { errors: [{ code: 'resource_not_found', message: 'not found' }] } }
  it.each<[string, Fault, number, string]>([
    ['the provider refuses the token', { status: 401 }, 422, 'credentials_rejected'],
    ['the Platform API is not enabled', platformNotEnabled(404), 422, 'provider_rejected'],
    ['the provider still lists it', { ...notFound, method: 'DELETE' }, 422, 'provider_rejected'],
    ['the response does not confirm it', { status: 200, body: { deleted: false } }, 502, 'provider_error'],
    ['the provider limits the rate', { status: 429, headers: later }, 429, 'provider_rate_limited'],
  ])('fails if %s, and the next delivery deletes it', async (_what, fault, status, code) => {
    await create()
    provider.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
    expect(await remove({ eventId: 'evt_1' })).toMatchObject({ status, body: { code } })
    expect([deployment().status, provider.applications.size]).toEqual([
      status === 422 ? 'failed' : 'running',
      1,
    ])
    provider.faults.clear()
    expect(await remove({ eventId: 'evt_2' })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })
})

describe('a provisioned instance', () => {
  const of = (name: string, rest: object = {}) => ({ name, deployment: { id: 'dep_1' }, ...rest })

  it('serves every event with its own key', async () => {
    await create()
    requests.length = 0
    const { users, secretKey } = only(application().instances)
    const functionCall = { name: 'createUser', arguments: { emailAddress: 'ada@example.org' } }
    for (const event of [of('HEALTH_CHECK'), of('FUNCTION_CALL', { functionCall }), of('METRIC_UPDATE')])
      expect((await send(event)).status).toBe(200)
    const { body } = await send(of('DOWNLOAD_STARTED', { download: { id: 'dl_1' } }))
    expect(JSON.stringify(body)).toContain(secretKey)
    expect([users.size, credentials()]).toEqual([1, [secretKey]])
  })

  it('is unhealthy before it has keys, and after its application is gone', async () => {
    platform.addDeployment({ id: 'dep_1', inputs })
    const unhealthy = (words: string) => {
      return { status: 'unhealthy', checks: [{ healthy: false, message: expect.stringContaining(words) }] }
    }
    expect((await send(of('HEALTH_CHECK'))).body).toMatchObject(unhealthy('not published its keys'))
    await create()
    provider.removeApplication(application().applicationId)
    expect((await send(of('HEALTH_CHECK'))).body).toMatchObject(unhealthy('secret key'))
    expect(deployment().status).toBe('unhealthy')
  })

  it('has no shared one beside it', async () => {
    const body = { code: 'missing_credentials', detail: expect.stringContaining('name it in the event') }
    const response = await send({ name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } })
    expect(response).toMatchObject({ status: 422, body })
    expect(requests).toEqual([])
  })
})
