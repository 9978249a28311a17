import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { applicationsPath, only } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, asked, platform, create, creates, deployment, statuses } = fixture

const applicationId = () => only(provider.applications.keys())

describe('a redeploy', () => {
  it('renames the published application, even if the store has forgotten it', async () => {
    const first = await create()
    const inputs = { applicationName: 'Renamed' }
    const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
    for (const using of [fixture.handler({ store: memoryStore() }), fixture.handler()]) {
      const again = await deliver(using, event)
      expect([again.status, again.body]).toEqual([200, first.body])
    }
    expect(creates()).toBe(1)
    expect(only(provider.applications.values()).name).toBe('Renamed')
    expect(asked().filter((request) => request.startsWith('PATCH'))).toHaveLength(1)
  })

  it('keeps a name that its owner gave the application, until applicationName changes', async () => {
    await create()
    const application = only(provider.applications.values())
    const redeploy = async (applicationName: string, byOwner?: string) => {
      application.name = byOwner ?? application.name
      expect((await create({ applicationName })).status).toBe(200)
      return application.name
    }
    expect(await redeploy('Shop', 'Mine')).toBe('Mine')
    expect(await redeploy('Market')).toBe('Market')
    expect(await redeploy('Market', 'Ours')).toBe('Ours')
    expect(await redeploy('Market')).toBe('Ours')
  })

  describe('of an application that the store had forgotten', () => {
    const redeploy = async () => {
      const { body } = await create()
      const handle = fixture.handler({ store: memoryStore() })
      const { outputs } = Object(body)
      return (inputs: Record<string, unknown> = {}, id = 'dep_1') => {
        const deployment = { id, inputs: { applicationName: 'Shop', ...inputs }, outputs }
        return deliver(handle, { name: 'DEPLOYMENT_CREATED', deployment })
      }
    }

    it('records it with its settings, which a later one may not change', async () => {
      const again = await redeploy()
      expect((await again()).status).toBe(200)
      expect(await again({ template: 'waitlist' })).toMatchObject({
        status: 422,
        body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.template' }] },
      })
    })

    it('reserves it, so that no other deployment gets it', async () => {
      const again = await redeploy()
      expect((await again()).status).toBe(200)
      platform.addDeployment({ id: 'dep_2' })
      expect(await again({}, 'dep_2')).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
    })
  })

  it('reuses the application in the event’s outputs, without a call to the platform', async () => {
    const { applicationId } = provider.addApplication({ name: 'Shop' })
    const inputs = { applicationName: 'Shop' }
    platform.addDeployment({ id: 'dep_1' })
    const deployment = { id: 'dep_1', inputs, outputs: { applicationId } }
    const response = await deliver(fixture.handler(), { name: 'DEPLOYMENT_CREATED', deployment })
    expect(response.body).toMatchObject({ status: 'running', outputs: { applicationId } })
    expect(asked()).toEqual([`GET ${applicationsPath}/${applicationId}?include_secret_keys=true`])
    expect(platform.calls.filter(({ method }) => method === 'GET')).toEqual([])
  })

  it('fails if the application is gone at the provider, and creates no other', async () => {
    await create()
    const gone = applicationId()
    provider.removeApplication(gone)
    expect(await create()).toMatchObject({
      status: 422,
      body: { code: 'provider_rejected', detail: expect.stringContaining(`${gone} no longer exists`) },
    })
    expect(creates()).toBe(1)
    expect(deployment()?.status).toBe('failed')
  })

  const production = { environmentType: 'production', domain: 'shop.example.com' }
  it.each([
    ['environmentType', {}, production],
    ['template', {}, { template: 'waitlist' }],
    ['domain', production, { ...production, domain: 'blog.example.com' }],
  ])('refuses a change of %s, and leaves the deployment running', async (name, first, change) => {
    await create(first)
    expect(await create(change)).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: `deployment.inputs.${name}` }] },
    })
    expect(creates()).toBe(1)
    expect(deployment()?.status).toBe('running')
  })
})

it('a deployment whose outputs were not published keeps its application for the next delivery', async () => {
  platform.addDeployment({ id: 'dep_1' })
  platform.faults.add({ path: /outputs$/, status: 503 })
  const unpublished = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
  expect(await create({}, 'evt_1')).toMatchObject(unpublished)
  expect(deployment()?.outputs).toEqual({})
  const outputs = { applicationId: applicationId() }
  expect(await create({}, 'evt_1')).toMatchObject({ status: 200, body: { status: 'running', outputs } })
  expect(creates()).toBe(1)
  expect(deployment()).toMatchObject({ status: 'running', outputs })
})

describe('a deployment that the platform does not know', () => {
  const unknown = { id: 'dep_1', inputs: { applicationName: 'Shop' } }
  const event = { name: 'DEPLOYMENT_CREATED', deployment: unknown }
  /** The platform knows the deployment until its application is created. */
  const forgotten = () => {
    platform.addDeployment(unknown)
    platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {} })
  }

  it('gets an application as soon as the platform has committed it', async () => {
    expect(await fixture.send(event, 'evt_1')).toMatchObject({
      status: 502,
      body: { code: 'platform_unavailable', retryable: true },
    })
    expect(creates()).toBe(0)
    platform.addDeployment(unknown)
    expect(await fixture.send(event, 'evt_1')).toMatchObject({ body: { status: 'running' } })
    expect(deployment()?.outputs).toMatchObject({ applicationId: applicationId() })
    expect(creates()).toBe(1)
  })

  it('leaves no application behind if it was deleted during the creation', async () => {
    forgotten()
    expect(await fixture.send(event)).toMatchObject({ status: 200, body: { status: 'ignored' } })
    expect(creates()).toBe(1)
    expect(provider.applications.size).toBe(0)
  })

  it('deletes the application in the next delivery if the provider refuses the first delete', async () => {
    forgotten()
    provider.faults.add({ method: 'DELETE', status: 403 })
    expect(await fixture.send(event, 'evt_1')).toMatchObject({ status: 422 })
    expect(provider.applications.size).toBe(1)
    forgotten()
    expect(await fixture.send(event, 'evt_2')).toMatchObject({ body: { status: 'ignored' } })
    expect(creates()).toBe(1)
    expect(provider.applications.size).toBe(0)
  })

  it('gets a new application if the platform knows it again', async () => {
    forgotten()
    await fixture.send(event)
    expect(await create()).toMatchObject({ status: 200, body: { status: 'running' } })
    expect(deployment()?.outputs).toMatchObject({ applicationId: applicationId() })
    expect(statuses()).toEqual(['deploying', 'deploying', 'running'])
  })
})
