import { describe, expect, it } from 'vitest'
import { only } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, requests, send, create, deployment } = fixture

const ofDeployment = { deployment: { id: 'dep_1' } }
const instance = () => only(only(provider.applications.values()).instances)

describe('a provisioned instance', () => {
  it('serves every event with its own key', async () => {
    await create()
    requests.length = 0
    instance().createUsers(12)
    instance().createOrganizations(3)
    provider.backend.instance.createUsers(5)
    expect(await send({ name: 'HEALTH_CHECK', ...ofDeployment })).toMatchObject({
      body: { status: 'healthy' },
    })
    const metrics = [
      { name: 'number_of_users', value: 12 },
      { name: 'number_of_organizations', value: 3 },
    ]
    expect((await send({ name: 'METRIC_UPDATE', ...ofDeployment })).body).toEqual({ metrics })
    const call = async (name: string, given: object) => {
      const functionCall = { name, arguments: given }
      return (await send({ name: 'FUNCTION_CALL', ...ofDeployment, functionCall })).body
    }
    const ada = { emailAddress: 'ada@example.org', firstName: 'Ada' }
    expect(await call('createUser', ada)).toMatchObject({ result: ada })
    expect(await call('listUsers', { query: 'ada@' })).toMatchObject({
      result: { data: [ada], totalCount: 1 },
    })
    expect(await call('countUsers', {})).toEqual({ result: { count: 13 } })
    expect(await call('listOrganizations', {})).toMatchObject({ result: { totalCount: 3 } })
    const { body } = await send({ name: 'DOWNLOAD_STARTED', ...ofDeployment, download: { id: 'dl_1' } })
    const [file] = deployment()?.downloads.get('dl_1') ?? []
    expect(body).toEqual({ files: [file] })
    expect(file?.content).toContain(instance().publishableKey)
    expect(file?.content).toContain(instance().secretKey)
    const keys = new Set(requests.map(({ headers }) => headers.get('authorization')))
    expect(keys).toEqual(new Set([`Bearer ${instance().secretKey}`]))
  })

  it('is unhealthy after its application is gone', async () => {
    await create()
    provider.removeApplication(only(provider.applications.keys()))
    expect(await send({ name: 'HEALTH_CHECK', ...ofDeployment })).toMatchObject({
      status: 200,
      body: { status: 'unhealthy', checks: [{ healthy: false, message: expect.any(String) }] },
    })
    expect(deployment()?.status).toBe('unhealthy')
  })

  it('is unhealthy before the deployment has published its keys, with the reason', async () => {
    platform.addDeployment({ id: 'dep_1' })
    expect(await send({ name: 'HEALTH_CHECK', ...ofDeployment })).toMatchObject({
      body: { status: 'unhealthy', checks: [{ message: expect.stringContaining('not published its keys') }] },
    })
  })
})

it('FUNCTION_CALL without a deployment is refused, because there is no shared instance', async () => {
  expect(await send({ name: 'FUNCTION_CALL', functionCall: { name: 'countUsers' } })).toMatchObject({
    status: 422,
    body: { code: 'missing_credentials', detail: expect.stringContaining('Name the deployment') },
  })
  expect(requests).toEqual([])
})
