import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import { applicationsPath, hostToken, only, tenantToken } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, asked, platform, create, send, deployment } = fixture

const otherToken = 'ak_of_another_workspace'
const deleteWith = (inputs?: Record<string, unknown>, outputs?: Record<string, unknown>) =>
  send({
    name: 'DEPLOYMENT_DELETED',
    deployment: { id: 'dep_1', ...(inputs && { inputs }), ...(outputs && { outputs }) },
  })
const deletes = () => asked().filter((request) => request.startsWith('DELETE'))

beforeEach(() => {
  Object.assign(provider.settings, {
    accessTokens: [hostToken, tenantToken, otherToken],
    workspaces: { [hostToken]: 'host', [tenantToken]: 'tenant', [otherToken]: 'other' },
  })
})

describe('an application of a tenant’s workspace', () => {
  it.each([
    ['the host’s token, because the platform’s record is gone', undefined],
    ['the host’s token, because the key was blanked', { applicationName: 'Shop', platformApiKey: '' }],
    ['another key', { applicationName: 'Shop', platformApiKey: otherToken }],
  ])('is not reported as deleted with %s', async (_, inputs) => {
    await create({ platformApiKey: tenantToken })
    platform.removeDeployment('dep_1')
    expect(await deleteWith(inputs)).toMatchObject({
      status: 422,
      body: {
        code: 'credentials_rejected',
        retryable: false,
        errors: [{ path: 'deployment.inputs.platformApiKey' }],
      },
    })
    expect(provider.applications.size).toBe(1)
  })

  it('is deleted with its own token, and counts as deleted if it is gone', async () => {
    await create({ platformApiKey: tenantToken })
    provider.removeApplication(only(provider.applications.keys()))
    const answer = await deleteWith({ applicationName: 'Shop', platformApiKey: tenantToken })
    expect(answer.body).toEqual({ status: 'stopped' })
  })

  it('is not reused with another key, and stays', async () => {
    await create({ platformApiKey: tenantToken })
    expect(await create({ platformApiKey: otherToken })).toMatchObject({
      status: 422,
      body: { code: 'credentials_rejected' },
    })
    expect(provider.applications.size).toBe(1)
    expect(deployment()?.status).toBe('running')
  })
})

describe('a workspace whose Platform API was disabled', () => {
  it('does not count its 404 as a deletion', async () => {
    await create()
    provider.faults.add({ ...platformNotEnabled(404), times: 9 })
    expect(await deleteWith()).toMatchObject({ status: 422, body: { code: 'provider_rejected' } })
    provider.faults.clear()
    expect(provider.applications.size).toBe(1)
    expect((await deleteWith()).body).toEqual({ status: 'stopped' })
  })
})

describe('an update that meets an unsettled creation', () => {
  async function unsettled(inputs: Record<string, unknown>) {
    platform.addDeployment({ id: 'dep_1', inputs: { applicationName: 'Shop' } })
    const handle = fixture.handler({ store: memoryStore(), settleMs: 0 })
    const event = (given: object) => ({
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_1', inputs: given },
    })
    provider.faults.add(
      { method: 'POST', path: applicationsPath, cut: 'after' },
      { method: 'GET', path: applicationsPath, skip: 1, times: 3, status: 500 },
    )
    expect((await deliver(handle, event({ applicationName: 'Shop' }))).status).toBe(504)
    return deliver(handle, event({ applicationName: 'Shop', ...inputs }))
  }

  it('renames the application that appeared', async () => {
    expect((await unsettled({ applicationName: 'Market' })).body).toMatchObject({ status: 'running' })
    expect([...provider.applications.values()].map(({ name }) => name)).toEqual(['Market'])
  })

  it('is refused with the token of another workspace, and creates nothing there', async () => {
    expect(await unsettled({ platformApiKey: otherToken })).toMatchObject({
      status: 422,
      body: { code: 'credentials_rejected', errors: [{ path: 'deployment.inputs.platformApiKey' }] },
    })
    expect(provider.applications.size).toBe(1)
  })

  it('is refused if it changes what cannot change', async () => {
    expect(await unsettled({ template: 'waitlist' })).toMatchObject({
      status: 422,
      body: { code: 'invalid_inputs', errors: [{ path: 'deployment.inputs.template' }] },
    })
    expect(provider.applications.size).toBe(1)
  })
})

describe('an event with the application of another deployment', () => {
  const stranger = { id: 'dep_2', inputs: { applicationName: 'Thief' } }
  async function victim() {
    const { body } = await create()
    platform.addDeployment(stranger)
    const { outputs } = Object(body)
    return { applicationId: String(outputs.applicationId) }
  }

  it('is refused by a creation, which reads and publishes nothing', async () => {
    const { applicationId } = await victim()
    const before = asked().length
    const outputs = { applicationId }
    const answer = await send({ name: 'DEPLOYMENT_CREATED', deployment: { ...stranger, outputs } })
    expect(answer).toMatchObject({
      status: 422,
      body: { code: 'invalid_event', errors: [{ path: 'deployment.outputs.applicationId' }] },
    })
    expect(asked()).toHaveLength(before)
    expect(platform.deployments.get('dep_2')?.outputs).toEqual({})
  })

  it('is refused also if the platform’s record names it', async () => {
    const outputs = await victim()
    Object.assign(platform.addDeployment(stranger), { outputs })
    const answer = await send({ name: 'DEPLOYMENT_CREATED', deployment: stranger })
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
  })

  it('is refused also weeks after its creation', async () => {
    let time = Date.now()
    const store = memoryStore({ now: () => time })
    const handle = fixture.handler({ store })
    platform.addDeployment({ id: 'dep_1', inputs: { applicationName: 'Shop' } })
    platform.addDeployment(stranger)
    const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1' } }
    expect((await deliver(handle, created)).status).toBe(200)
    time += 60 * 24 * 60 * 60 * 1000
    const outputs = { applicationId: only(provider.applications.keys()) }
    const event = { name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_2', outputs } }
    expect(await deliver(handle, event)).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
    expect(provider.applications.size).toBe(1)
  })

  it.each(['the event', 'the platform’s record'])(
    'is refused by a deletion, which deletes nothing, if %s names it',
    async (source) => {
      const outputs = await victim()
      if (source !== 'the event') Object.assign(platform.deployments.get('dep_2') ?? {}, { outputs })
      const deployment = { id: 'dep_2', ...(source === 'the event' && { outputs }) }
      const answer = await send({ name: 'DEPLOYMENT_DELETED', deployment })
      expect(answer).toMatchObject({ status: 422, body: { code: 'invalid_event' } })
      expect([deletes(), provider.applications.size]).toEqual([[], 1])
    },
  )

  it('is refused if it contradicts the record, and neither application is deleted', async () => {
    await create()
    const { applicationId } = provider.addApplication({ name: 'Of a person' }, 'host')
    expect(await deleteWith(undefined, { applicationId })).toMatchObject({
      status: 422,
      body: { code: 'invalid_event' },
    })
    expect([deletes(), provider.applications.size]).toEqual([[], 2])
  })
})

describe('a published application', () => {
  it.each(['PUT', 'GET'])('survives a 404 page of a proxy for %s', async (method) => {
    await create()
    platform.faults.add({ method, path: /dep_1(\/outputs)?$/, status: 404, html: true })
    await send({
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_1', inputs: { applicationName: 'Shop' } },
    })
    expect(deletes()).toEqual([])
    expect(provider.applications.size).toBe(1)
  })

  it('survives a platform that no longer knows the deployment, until the deletion arrives', async () => {
    await create()
    platform.removeDeployment('dep_1')
    const inputs = { applicationName: 'Shop' }
    const outputs = { applicationId: only(provider.applications.keys()) }
    const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs, outputs } }
    for (const handle of [fixture.handler(), fixture.handler({ store: memoryStore() })]) {
      expect((await deliver(handle, event)).body).toMatchObject({ status: 'ignored' })
      expect(provider.applications.size).toBe(1)
    }
    expect((await deleteWith()).body).toEqual({ status: 'stopped' })
    expect(provider.applications.size).toBe(0)
  })
})

describe('a published application whose outputs no event carries', () => {
  it('is redeployed although the platform’s record can’t be read', async () => {
    await create()
    platform.faults.add({ method: 'GET', path: /dep_1/, status: 503, times: 9 })
    expect((await create()).body).toMatchObject({ status: 'running' })
  })
})

describe('a refused redeploy leaves a deployment running', () => {
  const refused = { applicationName: '' }
  const redeploy = (outputs?: object) =>
    send({
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_1', inputs: refused, ...(outputs && { outputs }) },
    })

  it('if the platform’s record can’t be read', async () => {
    await create()
    platform.faults.add({ method: 'GET', path: /dep_1/, status: 503, times: 9 })
    expect((await redeploy()).status).toBe(422)
    expect(deployment()?.status).toBe('running')
  })

  it('if the event carries outputs that do not work', async () => {
    await create()
    const { outputs } = Object(deployment())
    expect((await redeploy({ ...outputs, secretKey: 'sk_test_revoked' })).status).toBe(422)
    expect(deployment()?.status).toBe('running')
  })
})

describe('a deployment that begins anew under the id of a deleted one', () => {
  const inputs = { applicationName: 'Shop' }
  const at = (hour: string, name: string, outputs?: object) =>
    send({
      name,
      timestamp: `2026-11-20T${hour}:00:00Z`,
      deployment: { id: 'dep_1', inputs, ...(outputs && { outputs }) },
    })

  it.each([true, false])(
    'gets an application of its own; the event has the old outputs: %s',
    async (carries) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      await at('09', 'DEPLOYMENT_CREATED')
      const old = deployment()?.outputs
      await at('10', 'DEPLOYMENT_DELETED')
      platform.faults.add({ method: 'PUT', path: /outputs$/, status: 503, times: 9 })
      expect((await at('11', 'DEPLOYMENT_CREATED')).status).toBe(502)
      platform.faults.clear()
      const answer = await at('11', 'DEPLOYMENT_CREATED', carries ? old : undefined)
      expect(answer.body).toMatchObject({ status: 'running' })
      expect(deployment()?.outputs.applicationId).toBe(only(provider.applications.keys()))
      expect(deployment()?.outputs.applicationId).not.toBe(old?.applicationId)
    },
  )
})
