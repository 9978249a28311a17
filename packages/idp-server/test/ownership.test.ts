/** An application belongs to the deployment that created it, and to the workspace whose token did. */
import { memoryStore } from '@org/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { findOrphans } from '../src/webhook.ts'
import { hostToken, inputs, onCreate, only, root, runWebhook, stopped, tenantToken } from './support.ts'

const fixture = runWebhook()
const { provider, requests, asked, credentials, platform, host } = fixture
const { create, remove, send, deployment, published, application, statuses, logged } = fixture

const newToken = 'ak_of_the_host_since_today'
const foreignToken = 'ak_of_another_workspace'
const all = [hostToken, newToken, tenantToken, foreignToken]
const rejected = { status: 422, body: { code: 'credentials_rejected', retryable: false } }
const invalid = { status: 422, body: { code: 'invalid_event' } }
const running = { status: 200, body: { status: 'running' } }
const deletes = () => asked().filter((request) => request.startsWith('DELETE'))
const revoke = (...tokens: string[]) => {
  provider.settings.accessTokens = all.filter((token) => !tokens.includes(token))
}
/** The response to the next creation is lost, and the list does not show it yet. */
const loseCreation = () =>
  provider.faults.add(
    { ...onCreate, cut: 'after' },
    { method: 'GET', path: root, skip: 1, times: 3, status: 500 },
  )

beforeEach(() => {
  revoke()
  provider.settings.workspaces = { [foreignToken]: 'another' }
})

describe('after a rotation of the host’s token', () => {
  /** Hosts on one store, before and after it. */
  function rotation(platformApiKey = `${newToken} ${hostToken}`) {
    const shared = { store: memoryStore(), settleMs: 0 }
    return { before: host(shared), after: host({ ...shared, platformApiKey }) }
  }

  it('a deployment is renamed and deleted with the new token, although the earlier one is revoked', async () => {
    const { before, after } = rotation()
    await before.create()
    revoke(hostToken)
    requests.length = 0
    expect(await after.create({ applicationName: 'Market' })).toMatchObject(running)
    expect(application().name).toBe('Market')
    expect(await after.remove()).toMatchObject(stopped)
    expect([credentials(), provider.applications.size]).toEqual([[newToken], 0])
  })

  it.each([[], [hostToken]])(
    'an application that is gone counts as such, and is not replaced; revoked: %s',
    async (...revoked) => {
      const { before, after } = rotation()
      await before.create()
      const { applicationId } = application()
      provider.removeApplication(applicationId)
      revoke(...revoked)
      const detail = expect.stringContaining(`${applicationId} no longer exists`)
      expect(await after.create()).toMatchObject({ status: 422, body: { code: 'provider_rejected', detail } })
      expect([provider.applications.size, deployment().status]).toEqual([0, 'failed'])
      expect(await after.remove()).toMatchObject(stopped)
    },
  )

  it('an application that only the earlier token knows is not gone', async () => {
    provider.settings.workspaces = { [newToken]: 'another' }
    const { before, after } = rotation()
    await before.create()
    expect(await after.create({ applicationName: 'Market' })).toMatchObject(running)
    expect(application().name).toBe('Market')
    expect(await after.remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('an interrupted creation goes on with its application', async () => {
    const { before, after } = rotation()
    loseCreation()
    expect((await before.create()).status).toBe(504)
    revoke(hostToken)
    expect(await after.create()).toMatchObject(running)
    expect(published()).toBe(application().applicationId)
  })

  it('a deletion without the earlier token says how to list it', async () => {
    const { before, after } = rotation(newToken)
    await before.create()
    provider.removeApplication(application().applicationId)
    const detail = expect.stringMatching(/after the new one in IDP_PLATFORM_API_KEY/)
    expect(await after.remove()).toMatchObject({ ...rejected, body: { detail } })
  })

  it('no token is ever repeated, and orphans are found with the new one', async () => {
    const { after } = rotation()
    const errors = [{ code: 'no', message: `Neither ${newToken} nor ${hostToken} may.` }]
    provider.faults.add({ path: /platform/, times: 3, status: 403, body: { errors } })
    const { body } = await after.create()
    expect(body).toMatchObject({ provider: { message: 'Neither [redacted] nor [redacted] may.' } })
    provider.faults.clear()
    const platformApiKey = `${newToken} ${hostToken}`
    const search = { platformApiKey, platformBaseUrl: fixture.url(), store: memoryStore() }
    const none = { getDeployment: async () => undefined }
    expect(await findOrphans({ ...search, platform: none })).toMatchObject({ applications: 0 })
  })
})

describe('an application of a tenant’s workspace', () => {
  beforeEach(() => {
    provider.settings.workspaces = { [tenantToken]: 'tenant', [newToken]: 'tenant' }
  })

  it.each<[string, object]>([
    ['the host’s token, because the platform’s record is gone', {}],
    ['the host’s token, because the key was blanked', { inputs: { ...inputs, platformApiKey: '' } }],
    ['another key', { inputs: { ...inputs, platformApiKey: foreignToken } }],
  ])('is neither reused nor reported as deleted with %s', async (_, options) => {
    await create({ platformApiKey: tenantToken })
    const errors = [{ path: 'deployment.inputs.platformApiKey' }]
    expect(await create({ platformApiKey: '' })).toMatchObject({ ...rejected, body: { errors } })
    expect(deployment().status).toBe('running')
    platform.removeDeployment('dep_1')
    expect(await remove(options)).toMatchObject({ ...rejected, body: { errors } })
    expect(provider.applications.size).toBe(1)
  })

  it('is updated and deleted with a newer token of the workspace, also if it is gone', async () => {
    await create({ platformApiKey: tenantToken })
    revoke(tenantToken)
    const given = { applicationName: 'Market', platformApiKey: newToken }
    expect(await create(given)).toMatchObject(running)
    provider.removeApplication(application().applicationId)
    expect(await remove({ inputs: given })).toMatchObject(stopped)
  })

  it.each([
    [0, newToken, rejected],
    [2, foreignToken, rejected],
    [2, newToken, running],
  ])(
    'is found again after an interrupted creation, of %i others: %s',
    async (others, platformApiKey, answer) => {
      for (let index = 0; index < others; index += 1)
        provider.addApplication({ name: `Other ${index}` }, 'tenant')
      loseCreation()
      const { create } = host({ settleMs: 0 })
      expect((await create({ platformApiKey: tenantToken })).status).toBe(504)
      revoke(tenantToken)
      expect(await create({ platformApiKey })).toMatchObject(answer)
      expect(provider.applications.size).toBe(others + 1)
    },
  )
})

describe('an update that meets an unsettled creation', () => {
  it.each<[string, Record<string, string>, object]>([
    ['renames the application that appeared', { applicationName: 'Market' }, running],
    ['is refused if it changes what cannot change', { template: 'waitlist' }, { status: 422 }],
  ])('%s', async (_, change, answer) => {
    const { create } = host({ settleMs: 0 })
    loseCreation()
    expect((await create()).status).toBe(504)
    expect(await create(change)).toMatchObject(answer)
    expect(application().name).toBe(change.applicationName ?? 'Shop')
  })
})

describe('an event with the application of another deployment', () => {
  /** Deploys one, and returns its id. */
  async function victim() {
    await create()
    platform.addDeployment({ id: 'dep_2', inputs })
    requests.length = 0
    return { applicationId: application().applicationId }
  }

  it.each(['the event', 'the platform’s record'])(
    'is refused, and calls nobody, if %s names it',
    async (source) => {
      const outputs = await victim()
      if (source !== 'the event') deployment('dep_2').outputs = outputs
      const options = { id: 'dep_2', ...(source === 'the event' && { outputs }) }
      const errors = [{ path: 'deployment.outputs.applicationId' }]
      for (const answer of [await create({}, options), await remove(options)])
        expect(answer).toMatchObject({ ...invalid, body: { errors } })
      expect([requests, provider.applications.size]).toEqual([[], 1])
      expect(statuses()).toEqual(['deploying', 'running'])
    },
  )

  it('is refused also by a deployment that begins anew', async () => {
    const outputs = await victim()
    const [early, late] = ['09', '10'].map((hour) => ({
      timestamp: `2026-11-20T${hour}:00:00Z`,
      id: 'dep_2',
    }))
    await remove(early)
    expect(await create({}, { ...late, outputs })).toMatchObject(invalid)
  })

  it.each(['publishableKey', 'secretKey', 'instanceId'])('is refused by its %s too', async (name) => {
    await victim()
    const foreign = { [name]: deployment().outputs[name] }
    await create({}, { id: 'dep_3', outputs: {} })
    for (const options of [
      { id: 'dep_2', outputs: foreign },
      { id: 'dep_3', outputs: { ...deployment('dep_3').outputs, ...foreign } },
    ])
      for (const answer of [await create({}, options), await remove(options)])
        expect(answer).toMatchObject(invalid)
    expect((await create({}, { outputs: deployment().outputs })).status).toBe(200)
    expect((await remove({ outputs: deployment().outputs })).status).toBe(200)
  })

  it('is refused if it contradicts the record, and neither application is deleted', async () => {
    await create()
    const { applicationId } = provider.addApplication({ name: 'Of a person' })
    expect(await remove({ outputs: { applicationId } })).toMatchObject(invalid)
    expect([deletes(), provider.applications.size]).toEqual([[], 2])
  })
})

describe('the other events', () => {
  const events: [string, object][] = [
    ['HEALTH_CHECK', {}],
    ['METRIC_UPDATE', {}],
    ['DOWNLOAD_STARTED', { download: { file: '.env.local' } }],
    ['FUNCTION_CALL', { functionCall: { name: 'countUsers', arguments: {} } }],
    ['FUNCTION_CALL', { functionCall: { name: 'createUser', arguments: { emailAddress: 'a@b.example' } } }],
  ]
  const foreignOutputs = {
    ...invalid,
    body: { code: 'invalid_event', errors: [{ path: 'deployment.outputs' }] },
  }
  const away = () => platform.faults.add({ method: 'GET', status: 503, times: 9 })

  /** Deploys `dep_1` and `dep_2`. */
  async function deployed() {
    for (const id of ['dep_1', 'dep_2']) await create({}, { id })
    requests.length = 0
    const [own, foreign] = ['dep_1', 'dep_2'].map((id) => ({ ...deployment(id).outputs }))
    return { own, foreign: foreign ?? expect.fail() }
  }
  const toEvent = ([name, rest]: (typeof events)[number], outputs?: object, id = 'dep_1') => {
    return { name, deployment: { id, ...(outputs && { outputs }) }, ...rest }
  }

  it.each(events)('%s %j is done with its own outputs alone', async (...event) => {
    const { own, foreign } = await deployed()
    const { applicationId, ...keys } = foreign
    const { secretKey, publishableKey } = foreign
    const mixed = [{ applicationId }, { secretKey }, { publishableKey }].map((one) => ({ ...own, ...one }))
    for (const carried of [foreign, keys, ...mixed, { secretKey }])
      expect(await send(toEvent(event, carried))).toMatchObject(foreignOutputs)
    const { applicationId: ofPerson } = provider.addApplication({ name: 'Of a person' })
    for (const outputs of [foreign, { ...own, applicationId: ofPerson }]) {
      deployment().outputs = outputs
      expect(await send(toEvent(event))).toMatchObject(foreignOutputs)
    }
    expect(requests).toEqual([])
    away()
    const { status, body } = await send(toEvent(event, own))
    expect([status, Object(body).status ?? 'healthy']).toEqual([200, 'healthy'])
  })

  it('leave the decision to the platform’s record while the store is away', async () => {
    const { own, foreign } = await deployed()
    const read = () => Promise.reject(new Error('away'))
    const { send } = host({ store: { ...memoryStore(), read } })
    const [, , , count = expect.fail()] = events
    expect((await send(toEvent(count, own))).status).toBe(200)
    expect(await send(toEvent(count, foreign))).toMatchObject(foreignOutputs)
    away()
    const unavailable = { status: 502, body: { code: 'platform_unavailable', retryable: true } }
    expect(await send(toEvent(count, own))).toMatchObject(unavailable)
  })

  it('of a deployment without a record may not use the keys of another one either', async () => {
    const { foreign } = await deployed()
    const { secretKey, publishableKey } = foreign
    const event = toEvent(['HEALTH_CHECK', {}], { secretKey, publishableKey }, 'dep_3')
    expect(await send(event)).toMatchObject(foreignOutputs)
    expect((await host().send(event)).status).toBe(200)
  })
})

describe('the deletion of an application with an instance that was added at the provider', () => {
  /** Deploys in development, and adds a production instance as a person does. */
  async function deployed() {
    await create()
    const { applicationId, instances } = application()
    return { applicationId, instances, added: provider.addInstance(applicationId, 'example.com') }
  }

  it('is refused with the instance and the two ways on, and leaves the deployment running', async () => {
    const { applicationId, added, instances } = await deployed()
    const before = statuses()
    const words = `${applicationId}.*production.*${added.id}.*deleteAddedInstances`
    const errors = [{ path: 'deployment.inputs.deleteAddedInstances' }]
    const body = { code: 'deletion_refused', detail: expect.stringMatching(new RegExp(words)), errors }
    expect(await remove({ eventId: 'evt_1' })).toMatchObject({ status: 422, body })
    expect([statuses(), deployment().status]).toEqual([before, 'running'])
    expect(logged('error')).toEqual([expect.stringContaining(added.id)])
    // A redelivery looks again.
    instances.pop()
    expect(await remove({ eventId: 'evt_1' })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('is done if its own inputs say so, and not if those of the platform do', async () => {
    await deployed()
    const consent = { ...inputs, deleteAddedInstances: true }
    deployment().inputs = consent
    expect((await remove()).status).toBe(422)
    expect((await remove({ inputs: { deleteAddedInstances: 'no' } })).status).toBe(422)
    expect(await remove({ inputs: consent })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it.each([
    ['the published instance', undefined],
    ['nothing, and the application has two instances', {}],
  ])('is refused also if the store was replaced, and the host knows %s', async (_, outputs) => {
    const { applicationId, added, instances } = await deployed()
    // A redeploy records no instance that it did not make.
    expect(await create()).toMatchObject(running)
    if (outputs) platform.removeDeployment('dep_1')
    const answer = await host().remove(outputs ? { outputs: { applicationId } } : {})
    const detail = expect.stringContaining(added.id)
    expect(answer).toMatchObject({ status: 422, body: { code: 'deletion_refused', detail } })
    if (!outputs) expect(Object(answer.body).detail).not.toContain(instances[0]?.id)
    expect(only(provider.applications.keys())).toBe(applicationId)
  })
})
