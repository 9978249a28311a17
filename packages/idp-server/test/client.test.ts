/** What the client of the Platform API sends, and what it makes of responses and failures. */
import { inspect } from 'node:util'
import { rateLimited } from '@org/idp/testing'
import { describe, expect, it } from 'vitest'
import type { IdpPlatformClient, IdpPlatformClientOptions } from '../src/index.ts'
import { platformNotEnabled } from '../src/testing/index.ts'
import { failureOf, hostToken, only, root, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, asked, waits } = fixture

it('createApplication sends only the name by default, and returns the instance with its keys', async () => {
  const created = await fixture.client().createApplication({ name: 'Shop' })
  const { text, headers } = only(requests)
  expect([asked(), JSON.parse(text)]).toEqual([[`POST ${root}`], { name: 'Shop' }])
  expect(headers.get('authorization')).toBe(`Bearer ${hostToken}`)
  const { applicationId, instances } = only(provider.applications.values())
  const { id: instanceId, environmentType, publishableKey, secretKey } = only(instances)
  const instance = { instanceId, environmentType, publishableKey, secretKey }
  expect(created).toEqual({ applicationId, name: 'Shop', instances: [instance] })
  provider.settings.secretKeysOnCreate = false
  const another = await fixture.client().createApplication({ name: 'Shop' })
  expect(another.instances).toMatchObject([{ publishableKey: expect.any(String), secretKey: undefined }])
})

it.each([undefined, true])('reads return secret keys only on request: %s', async (includeSecretKeys) => {
  const { applicationId, instances } = provider.addApplication({ name: 'Shop' })
  const client = fixture.client()
  const expected = { instances: [{ secretKey: includeSecretKeys && only(instances).secretKey }] }
  expect(await client.getApplication(applicationId, { includeSecretKeys })).toMatchObject(expected)
  expect(await client.listApplications({ includeSecretKeys })).toMatchObject([expected])
  const query = includeSecretKeys ? '?include_secret_keys=true' : ''
  expect(asked()).toEqual([`GET ${root}/${applicationId}${query}`, `GET ${root}${query}`])
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

it.each(['', 'ak_a\nb'])('the invalid token %j is reported as missing', async (platformApiKey) => {
  const message = 'The Platform API access token is missing, or contains an invalid character.'
  const error = { code: 'missing_credentials', retryable: false, effect: 'none', message }
  const { createApplication } = fixture.client({ platformApiKey })
  expect(await failureOf(createApplication({ name: 'Shop' }))).toMatchObject(error)
  expect(requests).toEqual([])
})

describe('a failure', () => {
  /** Makes a failing call, and checks that its error does not contain the token. */
  async function fail(
    call: (client: IdpPlatformClient) => Promise<unknown>,
    options: Partial<IdpPlatformClientOptions> = {},
  ) {
    const error = await failureOf(call(fixture.client(options)))
    expect(inspect(error, { depth: null })).not.toContain(hostToken)
    return error
  }
  const create = (client: IdpPlatformClient) => client.createApplication({ name: 'Shop' })
  const everyCall = [create, (client: IdpPlatformClient) => client.listApplications()]

  it.each([402, 403, 404] as const)('with %i advises to check the beta', async (status) => {
    provider.faults.add({ ...platformNotEnabled(status), times: 2 })
    for (const call of everyCall) {
      expect(await fail(call)).toMatchObject({
        ...{ code: 'provider_rejected', retryable: false, effect: 'none' },
        hint: expect.stringContaining('beta'),
        provider: { name: 'idp-server', status, code: expect.any(String) },
      })
    }
    expect(requests).toHaveLength(2)
  })

  it('of the token advises to check the token and the beta', async () => {
    provider.settings.accessTokens = ['ak_another']
    for (const call of everyCall) {
      const hint = expect.stringMatching(/access token.*secret key.*beta/)
      expect(await fail(call)).toMatchObject({ code: 'credentials_rejected', hint })
    }
  })

  it('of the rate is retried within the time of a create', async () => {
    provider.faults.add(rateLimited(2))
    await create(fixture.client())
    expect([waits, requests.length, provider.applications.size]).toEqual([[2_000], 2, 1])
  })
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

it('the emulator adds a production instance, whose keys work', async () => {
  const { applicationId } = await fixture.client().createApplication({ name: 'Shop' })
  const headers = { authorization: `Bearer ${hostToken}`, 'content-type': 'application/json' }
  const url = `${fixture.url()}/platform/applications/${applicationId}/instances`
  await fetch(url, { method: 'POST', headers, body: '{"domain":"example.com"}' })
  const { instances } = await fixture.client().getApplication(applicationId, { includeSecretKeys: true })
  expect(instances).toMatchObject([{ environmentType: 'development' }, { environmentType: 'production' }])
  expect(provider.backend.findInstance(instances[1]?.secretKey ?? '')?.frontendHost).toBe('clerk.example.com')
})
