import { describe, expect, it } from 'vitest'
import { applicationsPath, failureOf, hostToken, only, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, asked } = fixture

describe('createApplication', () => {
  it('sends only the name by default, and returns the instance with its keys', async () => {
    const created = await fixture.client().createApplication({ name: 'Shop' })
    const { text, headers } = only(requests)
    expect(asked()).toEqual([`POST ${applicationsPath}`])
    expect(JSON.parse(text)).toEqual({ name: 'Shop' })
    expect(headers.get('authorization')).toBe(`Bearer ${hostToken}`)
    expect(headers.get('content-type')).toBe('application/json')

    const { applicationId, instances } = only(provider.applications.values())
    const { id, publishableKey, secretKey } = only(instances)
    expect(created).toEqual({
      applicationId,
      name: 'Shop',
      instances: [{ instanceId: id, environmentType: 'development', publishableKey, secretKey }],
    })
  })

  it('leaves keys undefined that the response lacks', async () => {
    provider.settings.secretKeysOnCreate = false
    const { instances } = await fixture.client().createApplication({ name: 'Shop' })
    expect(only(instances)).toMatchObject({ secretKey: undefined, publishableKey: expect.any(String) })
  })
})

describe('getApplication and listApplications', () => {
  it.each([undefined, true])('return secret keys only on request: %s', async (includeSecretKeys) => {
    const { applicationId, instances } = provider.addApplication({ name: 'Shop' })
    const client = fixture.client()
    const { secretKey } = only(instances)
    const expected = { instances: [{ secretKey: includeSecretKeys ? secretKey : undefined }] }
    expect(await client.getApplication(applicationId, { includeSecretKeys })).toMatchObject(expected)
    expect(await client.listApplications({ includeSecretKeys })).toMatchObject([expected])
    const query = includeSecretKeys ? '?include_secret_keys=true' : ''
    expect(asked()).toEqual([
      `GET ${applicationsPath}/${applicationId}${query}`,
      `GET ${applicationsPath}${query}`,
    ])
  })

  it('encode the id in the path', async () => {
    await failureOf(fixture.client().getApplication('app_1/../2?x'))
    expect(asked()).toEqual([`GET ${applicationsPath}/app_1%2F..%2F2%3Fx`])
  })
})

it.each(['', '.', '..', '\ud800'])(
  'the client refuses an id that cannot be a path, and sends nothing: “%s”',
  async (id) => {
    const { deleteApplication, getApplication } = fixture.client()
    for (const call of [deleteApplication, getApplication]) {
      await expect(call(id)).rejects.toMatchObject({ code: 'invalid_arguments' })
    }
    expect(requests).toEqual([])
  },
)

it.each(['', 'ak_a\nb'])('the client reports the invalid token %j as missing', async (platformApiKey) => {
  const failure = await failureOf(fixture.client({ platformApiKey }).createApplication({ name: 'Shop' }))
  const message = 'The Platform API access token is missing, or contains an invalid character.'
  expect(failure).toMatchObject({ code: 'missing_credentials', retryable: false, effect: 'none', message })
  expect(requests).toEqual([])
})
