import { memoryStore } from '@org/core'
import { deliver, type Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import { applicationsPath, hostToken, only, tenantToken } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, requests, asked, platform, create, remove, statuses, logged } = fixture

const name = 'DEPLOYMENT_DELETED'
const applicationId = () => only(provider.applications.keys())
const stopped = { status: 200, body: { status: 'stopped' } }
/** Makes a handler with an empty store. */
const cold = () => fixture.handler({ store: memoryStore() })

/** Creates a deployment, and clears the recorded requests. */
async function deployed(inputs: Record<string, unknown> = {}): Promise<string> {
  expect((await create(inputs)).status).toBe(200)
  requests.length = 0
  return applicationId()
}

describe('DEPLOYMENT_DELETED', () => {
  it('deletes the application in the event’s outputs', async () => {
    const { applicationId } = provider.addApplication({ name: 'Shop' })
    const other = provider.addApplication({ name: 'Blog' })
    const deployment = { id: 'dep_1', inputs: {}, outputs: { applicationId } }
    expect(await deliver(cold(), { name, deployment })).toMatchObject(stopped)
    expect(asked()).toEqual(
      ['GET', 'DELETE'].map((method) => `${method} ${applicationsPath}/${applicationId}`),
    )
    expect([...provider.applications.keys()]).toEqual([other.applicationId])
  })

  it('finds the id in the platform’s record after a cold start', async () => {
    const id = await deployed()
    expect(await deliver(cold(), { name, deployment: { id: 'dep_1' } })).toMatchObject(stopped)
    expect(asked()).toEqual(['GET', 'DELETE'].map((method) => `${method} ${applicationsPath}/${id}`))
    expect(provider.applications.size).toBe(0)
    expect(statuses()).toEqual(['deploying', 'running', 'stopped'])
  })

  it('finds the id in the store if the outputs were never published', async () => {
    platform.faults.add({ path: /outputs$/, status: 503 })
    expect((await create()).status).toBe(502)
    expect(await remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it.each([
    ['host', hostToken, {}],
    ['deployment, from the platform’s record,', tenantToken, { platformApiKey: tenantToken }],
  ])('uses the token of the %s', async (_of, token, inputs) => {
    await deployed(inputs)
    expect(await deliver(cold(), { name, deployment: { id: 'dep_1' } })).toMatchObject(stopped)
    expect(new Set(requests.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set([`Bearer ${token}`]),
    )
  })

  it('ignores invalid inputs other than the token', async () => {
    await deployed()
    const inputs = { applicationName: '', environmentType: 'staging', template: 7 }
    const event = { name, deployment: { id: 'dep_1', inputs } }
    expect(await deliver(fixture.handler(), event)).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('succeeds when repeated, with and without the store', async () => {
    await deployed()
    for (const id of ['evt_1', 'evt_2']) expect(await remove(id)).toMatchObject(stopped)
    expect(await deliver(cold(), { name, deployment: { id: 'dep_1' } })).toMatchObject(stopped)
    expect(logged('info').at(-1)).toMatch(/^Application app_\w+ was already gone\.$/)
  })

  it('succeeds if the response to the delete is lost', async () => {
    await deployed()
    provider.faults.add({ method: 'DELETE', cut: 'after' })
    expect(await remove()).toMatchObject(stopped)
    expect(requests.map(({ method }) => method)).toEqual(['GET', 'DELETE', 'DELETE', 'GET'])
    expect(provider.applications.size).toBe(0)
  })

  it('succeeds if the application is gone, although the provider’s list fails once', async () => {
    const handle = fixture.handler({ timeoutMs: 20_000.4 })
    provider.removeApplication(await deployed())
    provider.faults.add({ method: 'GET', path: applicationsPath, status: 503 })
    expect(await deliver(handle, { name, deployment: { id: 'dep_1' } })).toMatchObject(stopped)
  })

  it('stops with a warning if no application was recorded', async () => {
    platform.addDeployment({ id: 'dep_1' })
    expect(await remove()).toMatchObject(stopped)
    expect(logged('warn')).toEqual([expect.stringContaining('there is none to delete')])
    expect(requests).toEqual([])
  })

  it('is told, with its time, to events that come after it', async () => {
    await deployed()
    const timestamp = '2026-11-20T09:00:00.000Z'
    await fixture.send({ name, timestamp, deployment: { id: 'dep_1' } })
    const again = await create()
    expect(again.body).toMatchObject({ status: 'ignored', reason: expect.stringContaining(timestamp) })
    const call = { deployment: { id: 'dep_1' }, functionCall: { name: 'countUsers' } }
    expect((await fixture.send({ name: 'FUNCTION_CALL', ...call })).body).toMatchObject({
      code: 'deployment_deleted',
      detail: expect.stringMatching(new RegExp(`${timestamp}.*later timestamp`)),
    })
  })

  it('stops if the platform does not know the deployment either', async () => {
    expect(await remove()).toMatchObject(stopped)
    expect(requests).toEqual([])
  })
})

describe('DEPLOYMENT_DELETED fails if', () => {
  const later = { 'retry-after': '600' }
  const notFound = { status: 404, body: { errors: [{ code: 'resource_not_found', message: 'not found' }] } }

  it.each<[string, Fault, number, string]>([
    ['the provider refuses the token', { status: 401 }, 422, 'credentials_rejected'],
    ['the Platform API is not enabled', platformNotEnabled(403), 422, 'provider_rejected'],
    ['a page is the response with 404', { html: true, status: 404 }, 502, 'provider_error'],
    ['the provider still lists it', { ...notFound, method: 'DELETE' }, 422, 'provider_rejected'],
    [
      'the provider denies it, and lists it',
      { ...platformNotEnabled(404), method: 'DELETE' },
      422,
      'provider_rejected',
    ],
    ['the response does not confirm it', { status: 200, body: { deleted: false } }, 502, 'provider_error'],
    ['the provider is down', { status: 503, headers: later }, 502, 'provider_error'],
    ['the provider limits the rate', { status: 429, headers: later }, 429, 'provider_rate_limited'],
  ])('%s, and the next delivery deletes it', async (_what, fault, status, code) => {
    await deployed()
    provider.faults.add({ ...fault, times: Number.POSITIVE_INFINITY })
    expect(await remove('evt_1')).toMatchObject({ status, body: { code } })
    expect(platform.deployments.get('dep_1')?.status).toBe(status === 422 ? 'failed' : 'running')
    expect(provider.applications.size).toBe(1)
    provider.faults.clear()
    expect(await remove('evt_2')).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('the platform can’t be reached for the id', async () => {
    await deployed()
    platform.faults.add({ method: 'GET', status: 503 })
    expect(await deliver(cold(), { name, deployment: { id: 'dep_1' } })).toMatchObject({
      status: 502,
      body: { code: 'platform_unavailable', retryable: true },
    })
    expect(provider.applications.size).toBe(1)
  })
})
