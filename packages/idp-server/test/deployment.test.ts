/** The life of a deployment: created, deployed again, used and deleted. */
import type { Fault } from '@org/core/testing'
import { asFault, parameterReason, Refusal } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import {
  hostToken,
  inputs,
  only,
  production,
  refusal,
  root,
  running,
  runWorld,
  stopped,
  tenantToken,
  unavailable,
} from './support.ts'

const world = runWorld()
const { provider, requests, asked, credentials, platform, host, failsTo } = world
const { create, remove, send, deployment, statuses, logged, application, creates, published } = world

/** The bodies of the creates. */
const created = () =>
  requests.filter(({ method }) => method === 'POST').map(({ text }): unknown => JSON.parse(text))
const invalid = (name: string, message?: unknown) =>
  refusal('invalid_inputs', `deployment.inputs.${name}`, message)

describe('DEPLOYMENT_CREATED', () => {
  it.each([
    ['host', '  ', hostToken],
    ['deployment', ` ${tenantToken}\n`, tenantToken],
  ])('creates an application with the token of the %s, and publishes its keys', async (_of, key, token) => {
    const { body } = await create({ platformApiKey: key, domain: 'not a domain' })
    const { applicationId, instances } = application()
    const { id: instanceId, publishableKey, secretKey, frontendHost } = only(instances)
    const frontendApiUrl = `https://${frontendHost}`
    const outputs = { applicationId, instanceId, publishableKey, secretKey, frontendApiUrl }
    expect(body).toEqual({ status: 'running', outputs })
    expect(deployment()).toMatchObject({ outputs, sensitive: ['secretKey'] })
    expect(created()).toEqual([{ name: 'Shop', environment_types: ['development'] }])
    expect(deployment().statusHistory.at(-1)?.message).toContain(applicationId)
    expect(logged('warn')).toEqual([expect.stringMatching(/“domain” has no effect.*environmentType prod/)])
    expect(await host().remove()).toMatchObject(stopped)
    expect(credentials()).toEqual([token])
  })

  it('creates a production instance from the template on the domain, with live keys', async () => {
    const { body } = await create({ ...production, domain: ' shop.example.com', template: 'waitlist' })
    const sent = { environment_types: ['production'], domain: 'shop.example.com', template: 'waitlist' }
    expect(created()).toEqual([{ name: 'Shop', ...sent }])
    const [publishableKey, secretKey] = [/^pk_live_/, /^sk_live_/].map((form) => expect.stringMatching(form))
    const outputs = { publishableKey, secretKey, frontendApiUrl: 'https://clerk.shop.example.com' }
    expect([body, logged('warn')]).toMatchObject([{ outputs }, []])
  })

  it('is refused without a token or a domain that it needs, at the name of the input', async () => {
    const without = await host({ platformApiKey: undefined }).create()
    const message = 'is required, because the host has none'
    expect(without).toMatchObject(refusal('missing_credentials', 'deployment.inputs.platformApiKey', message))
    expect(without.body).toMatchObject({ detail: expect.stringContaining('IDP_PLATFORM_API_KEY') })
    for (const [domain, words] of [
      [undefined, 'is required with environmentType production'],
      ['localhost', 'expected a domain such as example.com'],
    ])
      expect(await create({ ...production, domain })).toMatchObject(invalid('domain', words))
    expect([statuses().at(-1), requests]).toEqual(['failed', []])
  })

  it('reads the keys again if the response to the create lacks them', async () => {
    provider.settings.secretKeysOnCreate = false
    const { body } = await create()
    const { applicationId, instances } = application()
    expect(body).toMatchObject({ outputs: { secretKey: only(instances).secretKey } })
    expect(asked().at(-1)).toBe(`GET ${root}/${applicationId}?include_secret_keys=true`)
  })

  it('reports an invalid key as a fault of the provider, and a refusal at the name of the argument', async () => {
    const keys = { publishable_key: 'pk_test_?', secret_key: 'sk_test_secret' }
    const instances = [{ instance_id: 'ins_1', environment_type: 'development', ...keys }]
    const made = { application_id: 'app_1', name: 'Shop', instances }
    provider.faults.add({ method: 'POST', status: 200, body: made })
    const response = await create({}, { id: 'dep_2' })
    expect(response).toMatchObject({ status: 502, body: { code: 'provider_error', retryable: true } })
    expect(response.body).not.toHaveProperty('errors')
    const error = parameterReason('form_param_value_invalid', 'environment_types', 'is invalid')
    provider.faults.add({ method: 'POST', ...asFault(new Refusal(422, error)) })
    expect(await create()).toMatchObject(refusal('provider_rejected', 'environmentTypes', 'is invalid'))
  })
})

describe('a redeploy', () => {
  it('renames the application once, records it if the store has forgotten it, and keeps its owner’s name', async () => {
    const first = await create()
    const { outputs } = deployment()
    const cold = host()
    for (const { create } of [cold, world])
      expect((await create({ applicationName: 'Renamed' }, { outputs })).body).toEqual(first.body)
    expect([creates(), application().name]).toEqual([1, 'Renamed'])
    expect(asked().filter((request) => request.startsWith('PATCH'))).toHaveLength(1)
    const foreign = { status: 422, body: { code: 'invalid_event' } }
    for (const carried of [outputs, { applicationId: outputs.applicationId }])
      expect(await cold.create({}, { id: 'dep_2', outputs: carried })).toMatchObject(foreign)
    expect(await cold.create({ template: 'waitlist' })).toMatchObject(invalid('template'))
    application().name = 'Mine'
    expect(await cold.create({ applicationName: 'Renamed' })).toMatchObject(running)
    expect(application().name).toBe('Mine')
  })

  it('reuses the application and instance of the event’s outputs, without a call to the platform', async () => {
    const environment_types: ('production' | 'development')[] = ['production', 'development']
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
    failsTo('GET', /dep_1/)
    const outputs = { ...deployment().outputs, secretKey: 'sk_test_revoked' }
    for (const carried of [{}, { outputs }])
      expect(await create(change, carried)).toMatchObject(invalid(name))
    expect([creates(), deployment().status]).toEqual([1, 'running'])
  })

  it('publishes what could not be published before, although the platform’s record can’t be read', async () => {
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect(await create({}, { eventId: 'evt_1' })).toMatchObject(unavailable)
    failsTo('GET', /dep_1/)
    expect(await create({}, { eventId: 'evt_1' })).toMatchObject(running)
    expect([creates(), published()]).toEqual([1, application().applicationId])
  })
})

describe('a deployment that the platform does not know', () => {
  const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }

  it('gets an application as soon as the platform has committed it', async () => {
    expect(await send(event, 'evt_1')).toMatchObject(unavailable)
    expect(creates()).toBe(0)
    platform.addDeployment({ id: 'dep_1', inputs })
    expect(await send(event, 'evt_1')).toMatchObject(running)
    expect([creates(), published()]).toEqual([1, application().applicationId])
  })

  it('leaves no application behind, and gets another one if it is known again', async () => {
    failsTo('PUT', /outputs$/, 404)
    provider.faults.add({ method: 'DELETE', status: 403 })
    expect((await create({}, { eventId: 'evt_1' })).status).toBe(422)
    expect((await create({}, { eventId: 'evt_2' })).body).toMatchObject({ status: 'ignored' })
    expect([creates(), provider.applications.size]).toEqual([1, 0])
    platform.faults.clear()
    expect(await create()).toMatchObject(running)
    expect(published()).toBe(application().applicationId)
  })

  it('keeps a published application until the deletion arrives', async () => {
    await create()
    const { outputs } = deployment()
    platform.removeDeployment('dep_1')
    for (const { send } of [world, host()]) {
      const deployed = { ...event, deployment: { ...event.deployment, outputs } }
      expect((await send(deployed)).body).toMatchObject({ status: 'ignored' })
      expect(provider.applications.size).toBe(1)
    }
    expect(await remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })
})

describe('DEPLOYMENT_DELETED', () => {
  it('finds the application in the event’s outputs, the platform’s record or the store, whatever the other inputs', async () => {
    const other = provider.addApplication({ name: 'Blog' })
    const { applicationId } = provider.addApplication({ name: 'Shop' })
    const invalid = { applicationName: '', environmentType: 'staging', template: 7 }
    expect(await host().remove({ inputs: invalid, outputs: { applicationId } })).toMatchObject(stopped)
    expect(asked()).toEqual(['GET', 'DELETE'].map((method) => `${method} ${root}/${applicationId}`))
    await create()
    expect(await host().remove()).toMatchObject(stopped)
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect((await create({}, { id: 'dep_2' })).status).toBe(502)
    expect(await remove({ id: 'dep_2' })).toMatchObject(stopped)
    expect([...provider.applications.keys()]).toEqual([other.applicationId])
  })

  it('succeeds if its response is lost and a list fails once, and with a warning if there is no application', async () => {
    await create()
    provider.faults.add({ method: 'DELETE', cut: 'after' }, { method: 'GET', path: root, status: 503 })
    expect(await host({ timeoutMs: 20_000.4 }).remove()).toMatchObject(stopped)
    expect(requests.slice(2).map(({ method }) => method)).toEqual(['GET', 'DELETE', 'DELETE', 'GET', 'GET'])
    requests.length = 0
    platform.addDeployment({ id: 'dep_2' })
    for (const id of ['dep_2', 'dep_unknown']) expect(await remove({ id })).toMatchObject(stopped)
    const warning = expect.stringContaining('there is none to delete')
    expect([deployment('dep_2').logs.at(0)?.message, requests]).toEqual([warning, []])
  })

  it.each([true, false])('lets a later event begin anew; it carries the old outputs: %s', async (carries) => {
    const timestamp = '2026-11-20T10:00:00.000Z'
    await create()
    const { outputs: old } = deployment()
    await remove({ timestamp })
    const reason = expect.stringMatching(new RegExp(`${timestamp}.*later timestamp`))
    expect((await create()).body).toMatchObject({ status: 'ignored', reason })
    const again = { timestamp: '2026-11-20T11:00:00Z' }
    failsTo('PUT', /outputs$/)
    expect((await create({}, again)).status).toBe(502)
    platform.faults.clear()
    expect(await create({}, { ...again, ...(carries && { outputs: old }) })).toMatchObject(running)
    expect(published()).toBe(application().applicationId)
    expect(published()).not.toBe(old.applicationId)
  })

  const refused = (status: number, code: string) => ({ status, body: { errors: [{ code, message: 'no' }] } })
  const ofOne = { path: /applications\/app_/ }
  const empty = { path: root, status: 200, body: [] }
  it.each<[string, number, string, ...Fault[]]>([
    ['the provider refuses the token', 422, 'credentials_rejected', { status: 401 }],
    ['the Platform API is not enabled', 422, 'provider_rejected', platformNotEnabled(404)],
    ['it is listed', 422, 'provider_rejected', { ...refused(404, 'resource_not_found'), method: 'DELETE' }],
    ['the response does not confirm it', 502, 'provider_error', { status: 200, body: { deleted: false } }],
    ['none is listed after a proxy’s 404', 502, 'provider_error', { ...ofOne, status: 404, body: {} }, empty],
    ['none is listed after a refusal', 422, 'provider_rejected', { ...ofOne, ...refused(403, 'no') }, empty],
  ])('fails if %s, and the next delivery deletes it', async (_what, status, code, ...faults) => {
    await create()
    for (const fault of faults) provider.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
    expect(await remove({ eventId: 'evt_1' })).toMatchObject({ status, body: { code } })
    expect(deployment().status).toBe(status === 422 ? 'failed' : 'running')
    expect(provider.applications.size).toBe(1)
    provider.faults.clear()
    expect(await remove({ eventId: 'evt_2' })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })
})

it('a provisioned instance is unhealthy before it has keys and after its application is gone, and has no shared one beside it', async () => {
  platform.addDeployment({ id: 'dep_1', inputs })
  const expectUnhealthy = async (words: string) => {
    const checks = [{ healthy: false, message: expect.stringContaining(words) }]
    const response = await send({ name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } })
    expect(response.body).toMatchObject({ status: 'unhealthy', checks })
  }
  await expectUnhealthy('not published its keys')
  const body = { code: 'missing_credentials', detail: expect.stringContaining('name it in the event') }
  const call = { name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } }
  expect([await send(call), requests]).toMatchObject([{ status: 422, body }, []])
  await create()
  provider.removeApplication(application().applicationId)
  await expectUnhealthy('secret key')
  expect(deployment().status).toBe('unhealthy')
})
