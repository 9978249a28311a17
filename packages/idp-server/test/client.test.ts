/** What the client of the Platform API sends, and what it makes of responses and failures. */
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { platformNotEnabled } from '../src/testing/index.ts'
import { failureOf, hostToken, only, root, runWorld } from './support.ts'

const { provider, requests, asked, client } = runWorld()

it('createApplication sends only the name by default, and returns the instance with its keys', async () => {
  const created = await client().createApplication({ name: 'Shop' })
  const { text, headers } = only(requests)
  expect([asked(), JSON.parse(text)]).toEqual([[`POST ${root}`], { name: 'Shop' }])
  expect(headers.get('authorization')).toBe(`Bearer ${hostToken}`)
  const { applicationId, instances } = only(provider.applications.values())
  const { id: instanceId, environmentType, publishableKey, secretKey } = only(instances)
  const instance = { instanceId, environmentType, publishableKey, secretKey }
  expect(created).toEqual({ applicationId, name: 'Shop', instances: [instance] })
})

it('ids are encoded in paths, and refused if they cannot be a path', async () => {
  const { getApplication, checkDomain } = client()
  await failureOf(getApplication('app_1/../2?x'))
  for (const id of ['', '.', '..', '\ud800'])
    for (const call of [getApplication(id), checkDomain('app_1', id)])
      expect(await failureOf(call)).toMatchObject({ code: 'invalid_arguments' })
  expect(asked()).toEqual([`GET ${root}/app_1%2F..%2F2%3Fx`])
})

it('a refusal advises to check the beta, and that of the token to check the token too, without repeating it', async () => {
  for (const status of [402, 403, 404] as const) {
    provider.faults.add(platformNotEnabled(status))
    expect(await failureOf(client().createApplication({ name: 'Shop' }))).toMatchObject({
      ...{ code: 'provider_rejected', retryable: false, effect: 'none' },
      hint: expect.stringContaining('beta'),
      provider: { name: 'idp-server', status, code: expect.any(String) },
    })
  }
  provider.settings.accessTokens = ['ak_another']
  const error = await failureOf(client().listApplications())
  const hint = expect.stringMatching(/access token.*secret key.*beta/)
  expect(error).toMatchObject({ code: 'credentials_rejected', hint })
  expect(inspect(error, { depth: null })).not.toContain(hostToken)
})

it('every method takes a signal, and is aborted by it before it sends anything', async () => {
  const cause = new Error('the user went away')
  // Inherited, as the context of an event has it.
  const options: { signal?: AbortSignal } = Object.create({ signal: AbortSignal.abort(cause) })
  const idp = client()
  const calls = [
    idp.createApplication({ name: 'Shop' }, options),
    idp.getApplication('app_1', options),
    idp.listApplications(options),
    idp.renameApplication('app_1', 'Shop', options),
    idp.deleteApplication('app_1', options),
    idp.listDomains('app_1', options),
    idp.getDomainStatus('app_1', 'dmn_1', options),
    idp.checkDomain('app_1', 'dmn_1', options),
  ]
  const aborted = { reason: { code: 'aborted', effect: 'none', cause } }
  expect(await Promise.allSettled(calls)).toMatchObject(calls.map(() => aborted))
  expect(requests).toEqual([])
})
