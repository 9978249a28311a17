/** What the client of the Platform API sends, and what it makes of responses and failures. */
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import { failureOf, hostToken, only, root, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, asked } = fixture

it('createApplication sends only the name by default, and returns the instance with its keys', async () => {
  const created = await fixture.client().createApplication({ name: 'Shop' })
  const { text, headers } = only(requests)
  expect([asked(), JSON.parse(text)]).toEqual([[`POST ${root}`], { name: 'Shop' }])
  expect(headers.get('authorization')).toBe(`Bearer ${hostToken}`)
  const { applicationId, instances } = only(provider.applications.values())
  const { id: instanceId, environmentType, publishableKey, secretKey } = only(instances)
  const instance = { instanceId, environmentType, publishableKey, secretKey }
  expect(created).toEqual({ applicationId, name: 'Shop', instances: [instance] })
})

it('ids are encoded in paths, and refused if they cannot be a path', async () => {
  const { getApplication, deleteApplication, checkDomain } = fixture.client()
  await failureOf(getApplication('app_1/../2?x'))
  expect(asked()).toEqual([`GET ${root}/app_1%2F..%2F2%3Fx`])
  for (const id of ['', '.', '..', '\ud800']) {
    for (const call of [getApplication(id), deleteApplication(id), checkDomain('app_1', id)])
      expect(await failureOf(call)).toMatchObject({ code: 'invalid_arguments' })
  }
  expect(requests).toHaveLength(1)
})

it.each([402, 403, 404] as const)('a failure with %i advises to check the beta', async (status) => {
  provider.faults.add({ ...platformNotEnabled(status), times: 2 })
  const { createApplication, listApplications } = fixture.client()
  for (const call of [() => createApplication({ name: 'Shop' }), () => listApplications()])
    expect(await failureOf(call())).toMatchObject({
      ...{ code: 'provider_rejected', retryable: false, effect: 'none' },
      hint: expect.stringContaining('beta'),
      provider: { name: 'idp-server', status, code: expect.any(String) },
    })
  expect(requests).toHaveLength(2)
})

it('a failure of the token advises to check the token and the beta, and does not repeat it', async () => {
  provider.settings.accessTokens = ['ak_another']
  const error = await failureOf(fixture.client().listApplications())
  const hint = expect.stringMatching(/access token.*secret key.*beta/)
  expect(error).toMatchObject({ code: 'credentials_rejected', hint })
  expect(inspect(error, { depth: null })).not.toContain(hostToken)
})

it('every method takes a signal, and is aborted by it before it sends anything', async () => {
  const reason = new Error('the user went away')
  // As the context of an event has it.
  const options = new (class {
    get signal() {
      return AbortSignal.abort(reason)
    }
  })()
  const client = fixture.client()
  const calls = [
    client.createApplication({ name: 'Shop' }, options),
    client.getApplication('app_1', options),
    client.listApplications(options),
    client.renameApplication('app_1', 'Shop', options),
    client.deleteApplication('app_1', options),
    client.listDomains('app_1', options),
    client.getDomainStatus('app_1', 'dmn_1', options),
    client.checkDomain('app_1', 'dmn_1', options),
  ]
  const aborted = { reason: { code: 'aborted', effect: 'none', cause: reason } }
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => aborted))
  expect(requests).toEqual([])
})
