import { describe, expect, it } from 'vitest'
import { only } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const arrangement = runWebhook()
const { provider, requests, send, create, deployment } = arrangement

const dep = { id: 'dep_1' }
const instance = () => only(only(provider.applications.values()).instances)
const tokens = () => requests.map(({ headers }) => headers.get('authorization'))

/** Creates a deployment, and forgets the calls that this took. */
async function deployed(): Promise<void> {
  expect((await create()).status).toBe(200)
  requests.length = 0
}

const call = (name: string, given: object = {}) =>
  send({ name: 'FUNCTION_CALL', deployment: dep, functionCall: { name, arguments: given } })

describe('HEALTH_CHECK', () => {
  it('asks the provisioned instance, with its own key', async () => {
    await deployed()
    expect(await send({ name: 'HEALTH_CHECK', deployment: dep })).toMatchObject({
      status: 200,
      body: { status: 'healthy', checks: [{ name: 'provider', healthy: true }] },
    })
    expect(requests.map(({ path }) => path)).toEqual(['/v1/instance'])
    expect(tokens()).toEqual([`Bearer ${instance().secretKey}`])
  })

  it('finds an instance unhealthy whose application is gone', async () => {
    await deployed()
    provider.removeApplication(only(provider.applications.keys()))
    expect(await send({ name: 'HEALTH_CHECK', deployment: dep })).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', checks: [{ healthy: false, message: expect.any(String) }] },
    })
    expect(deployment()?.status).toBe('unhealthy')
  })

  it('finds a deployment unhealthy that has published no keys yet, and says so', async () => {
    arrangement.platform.addDeployment({ id: 'dep_1' })
    expect(await send({ name: 'HEALTH_CHECK', deployment: dep })).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', checks: [{ message: expect.stringContaining('published no keys') }] },
    })
  })
})

describe('METRIC_UPDATE', () => {
  it('counts the users and organizations of the provisioned instance, and of no other', async () => {
    await deployed()
    instance().createUsers(12)
    instance().createOrganizations(3)
    provider.backend.instance.createUsers(5)
    const metrics = [
      { name: 'number_of_users', value: 12 },
      { name: 'number_of_organizations', value: 3 },
    ]
    const { status, body } = await send({ name: 'METRIC_UPDATE', deployment: dep })
    expect([status, body]).toEqual([200, { metrics }])
    expect(deployment()?.metrics).toMatchObject(metrics)
  })
})

describe('FUNCTION_CALL', () => {
  it('runs every function against the provisioned instance', async () => {
    await deployed()
    const ada = { emailAddress: 'ada@example.org', firstName: 'Ada', lastName: 'Lovelace' }
    expect(await call('createUser', ada)).toMatchObject({ status: 200, body: { result: ada } })
    const [userId = ''] = instance().users.keys()

    expect(await call('getUser', { userId })).toMatchObject({ body: { result: { id: userId } } })
    expect(await call('listUsers')).toMatchObject({ body: { result: { data: [ada], totalCount: 1 } } })
    expect(await call('updateUser', { userId, firstName: 'Augusta' })).toMatchObject({
      body: { result: { firstName: 'Augusta' } },
    })
    expect(await call('countUsers')).toMatchObject({ body: { result: { count: 1 } } })
    expect(await call('createOrganization', { name: 'Engines' })).toMatchObject({
      body: { result: { name: 'Engines' } },
    })
    expect(await call('listOrganizations')).toMatchObject({
      body: { result: { data: [{ name: 'Engines' }], totalCount: 1 } },
    })
    expect(await call('deleteUser', { userId })).toMatchObject({
      body: { result: { id: userId, deleted: true } },
    })
    expect(instance().users.size).toBe(0)
    expect(new Set(tokens())).toEqual(new Set([`Bearer ${instance().secretKey}`]))
  })

  it('takes the keys from the event where it carries them', async () => {
    await deployed()
    const outputs = deployment()?.outputs
    arrangement.platform.removeDeployment('dep_1')
    const event = { name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } }
    expect(await send({ ...event, deployment: { ...dep, outputs } })).toMatchObject({
      body: { result: { count: 0 } },
    })
  })

  it('without a deployment says that there is no shared instance', async () => {
    expect(await send({ name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } })).toMatchObject({
      status: 422,
      body: { code: 'missing_credentials', detail: expect.stringContaining('Name the deployment') },
    })
    expect(requests).toEqual([])
  })
})

describe('DOWNLOAD_STARTED', () => {
  it('generates .env.local with the keys of the provisioned instance', async () => {
    await deployed()
    const { body } = await send({ name: 'DOWNLOAD_STARTED', deployment: dep, download: { id: 'dl_1' } })
    const [file] = deployment()?.downloads.get('dl_1') ?? []
    expect(body).toEqual({ files: [file] })
    expect(file).toMatchObject({
      path: '.env.local',
      content: expect.stringContaining(instance().publishableKey),
    })
    expect(file?.content).toContain(instance().secretKey)
  })

  it('generates middleware.ts, which holds no key', async () => {
    await deployed()
    const download = { id: 'dl_1', file: 'middleware.ts' }
    const { body } = await send({ name: 'DOWNLOAD_STARTED', deployment: dep, download })
    expect(body).toMatchObject({
      files: [{ path: 'middleware.ts', content: expect.stringContaining('clerkMiddleware()') }],
    })
    expect(JSON.stringify(body)).not.toMatch(/[ps]k_test_/)
  })
})
