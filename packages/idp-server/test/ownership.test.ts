/** An application belongs to the deployment that created it, and to the workspace whose token did. */
import { IntegrationError, memoryStore } from '@org/core'
import { connectPlatform } from '@org/core/testing'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { findOrphans } from '../src/webhook.ts'
import {
  hostToken,
  inputs,
  only,
  refusal,
  running,
  runWorld,
  stopped,
  tenantToken,
  unavailable,
} from './support.ts'

const world = runWorld()
const { provider, requests, credentials, platform, host, failsTo, loseCreation } = world
const { create, remove, send, deployment, application, statuses, logged } = world

const newToken = 'ak_of_the_host_since_today'
const foreignToken = 'ak_of_another_workspace'
const all = [hostToken, newToken, tenantToken, foreignToken]
const rejected = refusal('credentials_rejected', 'deployment.inputs.platformApiKey')
const foreignPath = expect.stringMatching(/^deployment\.outputs(\.applicationId)?$/)
const foreignOutputs = refusal('invalid_event', foreignPath)
const revoke = (...tokens: string[]) => {
  provider.settings.accessTokens = all.filter((token) => !tokens.includes(token))
}

beforeEach(() => {
  revoke()
  provider.settings.workspaces = { [foreignToken]: 'another' }
})

describe('after a rotation of the host’s token', () => {
  /** Hosts on one store: before it, after it, and one that was not told the earlier token. */
  function rotation() {
    const store = memoryStore()
    const using = (platformApiKey: string) => host({ store, settleMs: 0, platformApiKey })
    return { before: using(hostToken), after: using(`${newToken} ${hostToken}`), forgetful: using(newToken) }
  }

  it.each([[], [hostToken]])(
    'an application that is gone counts as such with the earlier token, and is not replaced; revoked: %s',
    async (...revoked) => {
      const { before, after, forgetful } = rotation()
      await before.create()
      const { applicationId } = application()
      provider.removeApplication(applicationId)
      revoke(...revoked)
      const detail = expect.stringContaining(`${applicationId} no longer exists`)
      expect(await after.create()).toMatchObject({ status: 422, body: { code: 'provider_rejected', detail } })
      expect([provider.applications.size, deployment().status]).toEqual([0, 'failed'])
      const advice = expect.stringMatching(/after the new one in IDP_PLATFORM_API_KEY/)
      expect(await forgetful.remove()).toMatchObject({ ...rejected, body: { detail: advice } })
      expect(await after.remove()).toMatchObject(stopped)
    },
  )

  it('an application that only the earlier token knows is not gone, and a revoked token ahead of it is refused', async () => {
    provider.settings.workspaces = { [newToken]: 'another' }
    const { before, after } = rotation()
    await before.create()
    expect(await after.create({ applicationName: 'Market' })).toMatchObject(running)
    expect(application().name).toBe('Market')
    revoke(newToken)
    expect((await after.remove()).body).toMatchObject({ code: 'credentials_rejected' })
    revoke()
    expect(await after.remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('no token is ever repeated, and orphans are found with the new one', async () => {
    const platformApiKey = `${newToken} ${hostToken}`
    const errors = [{ code: 'no', message: `Neither ${newToken} nor ${hostToken} may.` }]
    provider.faults.add({ path: /platform/, times: 3, status: 403, body: { errors } })
    const message = 'Neither [redacted] nor [redacted] may.'
    expect((await host({ platformApiKey }).create()).body).toMatchObject({ provider: { message } })
    provider.faults.clear()
    const search = { platformApiKey, platformBaseUrl: world.url(), store: memoryStore() }
    const none = { getDeployment: async () => undefined }
    expect(await findOrphans({ ...search, platform: none })).toMatchObject({ applications: 0 })
  })
})

it('the application of a creation under way is no orphan, although the platform shows its deployment as stopped', async () => {
  provider.settings.secretKeysOnCreate = false
  const store = memoryStore()
  const sources = { store, platform: connectPlatform(platform.fetch), platformBaseUrl: world.url() }
  const search = () => findOrphans({ ...sources, platformApiKey: hostToken })
  const reports: unknown[] = []
  const { create } = host({
    store,
    async fetch(input, init) {
      // The keys are read once the application is recorded.
      if (new Request(input, init).url.includes('include_secret_keys')) {
        deployment().status = 'stopped'
        reports.push(await search())
      }
      return fetch(input, init)
    },
  })
  expect(await create()).toMatchObject(running)
  expect(reports).toEqual([{ applications: 1, orphans: [] }])
  deployment().status = 'stopped'
  expect(await search()).toMatchObject({ orphans: [{ state: 'orphaned', deploymentId: 'dep_1' }] })
})

describe('an application of a tenant’s workspace', () => {
  beforeEach(() => {
    const tenant = 'tenant'
    provider.settings.workspaces = { [tenantToken]: tenant, [newToken]: tenant, [foreignToken]: 'another' }
  })

  it('is neither reused nor reported as deleted with the host’s token or another key', async () => {
    await create({ platformApiKey: tenantToken })
    expect(await create({ platformApiKey: '' })).toMatchObject(rejected)
    expect(deployment().status).toBe('running')
    platform.removeDeployment('dep_1')
    for (const inputs of [undefined, { platformApiKey: '' }, { platformApiKey: foreignToken }])
      expect(await remove({ inputs })).toMatchObject(rejected)
    expect(provider.applications.size).toBe(1)
  })

  it.each([
    [0, 0, newToken, rejected],
    [2, 0, foreignToken, rejected],
    [2, 1, foreignToken, rejected],
    [2, 0, newToken, running],
    [3, 1, newToken, running],
  ])(
    'is found again after an interrupted creation by a token that sees most of %i others, of which %i moved: %s',
    async (others, moved, token, answer) => {
      const names = ['One', 'Two', 'Three'].slice(0, others)
      const made = names.map((name) => provider.addApplication({ name }, 'tenant'))
      loseCreation()
      const { create } = host({ settleMs: 0 })
      expect((await create({ platformApiKey: tenantToken })).status).toBe(504)
      for (const application of made.slice(0, moved)) application.workspace = 'another'
      revoke(tenantToken)
      expect(await create({ platformApiKey: token })).toMatchObject(answer)
      expect(provider.applications.size).toBe(others + 1)
    },
  )
})

it('an update that meets an unsettled creation is refused if it changes what cannot change, and renames what appeared', async () => {
  const { create } = host({ settleMs: 0 })
  loseCreation()
  expect((await create()).status).toBe(504)
  expect(await create({ template: 'waitlist' })).toMatchObject({ status: 422 })
  expect(await create({ applicationName: 'Market' })).toMatchObject(running)
  expect(application().name).toBe('Market')
})

describe('an event with outputs of another deployment', () => {
  /** Deploys `dep_1` and `dep_2`, and returns the outputs of both. */
  async function deployed() {
    for (const id of ['dep_1', 'dep_2']) await create({}, { id })
    requests.length = 0
    return { own: { ...deployment().outputs }, foreign: { ...deployment('dep_2').outputs } }
  }
  const toEvent = (name: string, id: string, outputs?: object) => ({
    ...{ name, deployment: { id, inputs, ...(outputs && { outputs }) } },
    ...{ download: { file: '.env.local' }, functionCall: { name: 'countUsers', arguments: {} } },
  })
  const usage = ['HEALTH_CHECK', 'METRIC_UPDATE', 'DOWNLOAD_STARTED', 'FUNCTION_CALL']

  it.each(['DEPLOYMENT_CREATED', ...usage, 'DEPLOYMENT_DELETED'])(
    '%s is refused, and calls nobody, whatever it has of them, and done with its own',
    async (name) => {
      const { own, foreign } = await deployed()
      const isUsage = usage.includes(name)
      const { applicationId: ofPerson } = provider.addApplication({ name: 'Of a person' })
      const names = ['applicationId', 'publishableKey', 'secretKey', ...(isUsage ? [] : ['instanceId'])]
      const parts = names.map((field) => ({ [field]: foreign[field] }))
      const mixed = [...parts, { applicationId: ofPerson }].map((part) => ({ ...own, ...part }))
      for (const carried of [foreign, ...parts, ...mixed])
        expect(await send(toEvent(name, 'dep_1', carried))).toMatchObject(foreignOutputs)
      platform.addDeployment({ id: 'dep_3', inputs }).outputs = foreign
      expect(await send(toEvent(name, 'dep_3'))).toMatchObject(foreignOutputs)
      // Life events need no outputs of a deployment that is recorded.
      for (const outputs of isUsage ? [foreign, { ...own, applicationId: ofPerson }] : []) {
        deployment().outputs = outputs
        expect(await send(toEvent(name, 'dep_1'))).toMatchObject(foreignOutputs)
      }
      // A redeploy that fails asks for the health of the deployment.
      const probed = name === 'DEPLOYMENT_CREATED' ? [own.secretKey] : []
      expect([credentials(), provider.applications.size]).toEqual([probed, 3])
      failsTo('GET')
      // Also by a host whose store was replaced.
      for (const { send } of [host(), world]) {
        const { status, body } = await send(toEvent(name, 'dep_1', own))
        expect([status, Object(body).status === 'unhealthy']).toEqual([200, false])
      }
    },
  )

  it('is refused also if its deployment begins anew', async () => {
    const { foreign } = await deployed()
    const id = 'dep_3'
    platform.addDeployment({ id, inputs })
    await remove({ id, timestamp: '2026-11-20T09:00:00Z' })
    const outputs = { applicationId: foreign.applicationId }
    expect(await create({}, { id, timestamp: '2026-11-20T10:00:00Z', outputs })).toMatchObject(foreignOutputs)
  })

  it('is judged by the platform’s record while the store is away, and by none if a record was changed', async () => {
    const { own, foreign } = await deployed()
    const read = vi.fn().mockRejectedValue(new Error('away'))
    const { send } = host({ store: { ...memoryStore(), read } })
    const call = (outputs: object) => send(toEvent('FUNCTION_CALL', 'dep_1', outputs))
    expect((await call(own)).status).toBe(200)
    expect(await call(foreign)).toMatchObject(foreignOutputs)
    // The first read is that of the deployment.
    read.mockResolvedValueOnce(undefined).mockRejectedValueOnce(new IntegrationError('internal_error', 'no'))
    expect((await call(own)).status).toBe(500)
    failsTo('GET')
    expect(await call(own)).toMatchObject(unavailable)
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
    const answer = await remove({ eventId: 'evt_1' })
    expect(answer).toMatchObject(refusal('deletion_refused', 'deployment.inputs.deleteAddedInstances'))
    expect(answer.body).toMatchObject({ detail: expect.stringMatching(words) })
    expect([statuses(), deployment().status]).toEqual([before, 'running'])
    expect(logged('error')).toEqual([expect.stringContaining(added.id)])
    // A redelivery looks again.
    instances.pop()
    expect(await remove({ eventId: 'evt_1' })).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('is done if its own inputs say so, and not if those of the platform do, also without the original', async () => {
    const { instances } = await deployed()
    instances.shift()
    const consent = { ...inputs, deleteAddedInstances: true }
    deployment().inputs = consent
    for (const inputs of [undefined, { deleteAddedInstances: 'no' }])
      expect((await remove({ inputs })).status).toBe(422)
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
