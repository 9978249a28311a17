/** The host's token, and those of tenants, are replaced by others of the same workspace. */
import { memoryStore } from '@org/core'
import { deliver } from '@org/core/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { findOrphans } from '../src/webhook.ts'
import { applicationsPath, hostToken, only, tenantToken } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform, deployment, requests } = fixture

const newToken = 'ak_of_the_host_since_today'
const foreignToken = 'ak_of_another_workspace'
const all = [hostToken, newToken, tenantToken, foreignToken]
const inputs = { applicationName: 'Shop' }
const stopped = { status: 200, body: { status: 'stopped' } }
const rejected = { status: 422, body: { code: 'credentials_rejected' } }

/** Hosts on one store: one with the old token, and one with these tokens. */
function createHosts(platformApiKey = `${newToken} ${hostToken}`) {
  const shared = { store: memoryStore(), settleMs: 0 }
  const [before, after] = [{}, { platformApiKey }].map((own) => fixture.handler({ ...shared, ...own }))
  const via = (using = before) => {
    const send = (name: string, given: object = inputs) =>
      deliver(using ?? expect.fail(), { name, deployment: { id: 'dep_1', inputs: given } })
    return {
      create: (given?: object) => send('DEPLOYMENT_CREATED', given),
      remove: (given?: object) => send('DEPLOYMENT_DELETED', given),
    }
  }
  return { before: via(before), after: via(after) }
}
/** The provider no longer knows the earlier token. */
const revoke = (...tokens: string[]) => {
  provider.settings.accessTokens = all.filter((token) => !tokens.includes(token))
}
/** A creation whose answer was lost, and which the list did not show yet. */
const loseCreation = () =>
  provider.faults.add(
    { method: 'POST', path: applicationsPath, cut: 'after' },
    { method: 'GET', path: applicationsPath, skip: 1, times: 3, status: 500 },
  )

beforeEach(() => {
  platform.addDeployment({ id: 'dep_1', inputs })
  provider.settings.workspaces = { [foreignToken]: 'another' }
  revoke()
})

describe('after a rotation of the host’s token', () => {
  it.each([[[]], [[hostToken]]])('a deployment is renamed and deleted; revoked: %j', async (revoked) => {
    const { before, after } = createHosts()
    await before.create()
    revoke(...revoked)
    requests.length = 0
    expect((await after.create({ applicationName: 'Market' })).status).toBe(200)
    expect(only(provider.applications.values()).name).toBe('Market')
    expect(await after.remove()).toMatchObject(stopped)
    const used = new Set(requests.map(({ headers }) => headers.get('authorization')))
    expect([used, provider.applications.size]).toEqual([new Set([`Bearer ${newToken}`]), 0])
  })

  it.each([[[]], [[hostToken]]])(
    'an application that is gone counts as deleted; revoked: %j',
    async (revoked) => {
      const { before, after } = createHosts()
      await before.create()
      provider.removeApplication(only(provider.applications.keys()))
      revoke(...revoked)
      expect(await after.create()).toMatchObject({ status: 422, body: { code: 'provider_rejected' } })
      expect(await after.remove()).toMatchObject(stopped)
    },
  )

  it('an application that only the earlier token knows is not gone', async () => {
    provider.settings.workspaces = { [newToken]: 'another' }
    const { before, after } = createHosts()
    await before.create()
    expect((await after.create({ applicationName: 'Market' })).status).toBe(200)
    expect(only(provider.applications.values()).name).toBe('Market')
    expect(await after.remove()).toMatchObject(stopped)
    expect(provider.applications.size).toBe(0)
  })

  it('an interrupted creation is continued with its application', async () => {
    const { before, after } = createHosts()
    loseCreation()
    expect((await before.create()).status).toBe(504)
    revoke(hostToken)
    expect((await after.create()).body).toMatchObject({ status: 'running' })
    expect(deployment()?.outputs.applicationId).toBe(only(provider.applications.keys()))
    expect(await after.remove()).toMatchObject(stopped)
  })

  it('a deletion without the earlier token says how to list it', async () => {
    const { before, after } = createHosts(newToken)
    await before.create()
    provider.removeApplication(only(provider.applications.keys()))
    expect(await after.remove()).toMatchObject({
      ...rejected,
      body: { detail: expect.stringMatching(/after the new one in IDP_PLATFORM_API_KEY/) },
    })
  })

  it('neither token is ever repeated, and orphans are found with the new one', async () => {
    const { after } = createHosts()
    const message = `Neither ${newToken} nor ${hostToken} may do this.`
    const refusal = { status: 403, body: { errors: [{ code: 'not_allowed', message }] } }
    provider.faults.add({ path: /platform/, times: 3, ...refusal })
    const { body } = await after.create()
    expect(body).toMatchObject({ provider: { message: 'Neither [redacted] nor [redacted] may do this.' } })
    provider.faults.clear()
    const platformApiKey = `${newToken} ${hostToken}`
    const search = { platformApiKey, platformBaseUrl: fixture.url, store: memoryStore() }
    const none = { getDeployment: async () => undefined }
    expect(await findOrphans({ ...search, platform: none })).toMatchObject({ applications: 0 })
  })
})

describe('a tenant that brings another token', () => {
  it('of its workspace updates and deletes what the first one created', async () => {
    const { before } = createHosts()
    await before.create({ ...inputs, platformApiKey: tenantToken })
    revoke(tenantToken)
    const rotated = { applicationName: 'Market', platformApiKey: newToken }
    expect((await before.create(rotated)).status).toBe(200)
    provider.removeApplication(only(provider.applications.keys()))
    expect(await before.remove(rotated)).toMatchObject(stopped)
  })

  it.each([
    [0, newToken, rejected],
    [2, foreignToken, rejected],
    [2, newToken, { body: { status: 'running' } }],
  ])(
    'continues a creation if the workspace shows the %i applications from before: %s',
    async (others, platformApiKey, answer) => {
      for (let index = 0; index < others; index += 1) provider.addApplication({ name: `Other ${index}` })
      const { before } = createHosts()
      loseCreation()
      expect((await before.create({ ...inputs, platformApiKey: tenantToken })).status).toBe(504)
      revoke(tenantToken)
      expect(await before.create({ ...inputs, platformApiKey })).toMatchObject(answer)
      expect(provider.applications.size).toBe(others + 1)
    },
  )
})
