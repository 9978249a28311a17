import { describe, expect, it, vi } from 'vitest'
import { createIdpPlatformClient } from '../src/index.ts'
import { applicationsPath, failureOf, hostToken, only, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider, requests, asked } = fixture

const application = () => only(provider.applications.values())

describe('createApplication', () => {
  it('sends the name alone where nothing else is given, and gives the instance with its keys', async () => {
    const created = await fixture.client().createApplication({ name: 'Shop' })
    const { text, headers } = only(requests)
    expect(asked()).toEqual([`POST ${applicationsPath}`])
    expect(JSON.parse(text)).toEqual({ name: 'Shop' })
    expect(headers.get('authorization')).toBe(`Bearer ${hostToken}`)
    expect(headers.get('content-type')).toBe('application/json')

    const { applicationId, instances } = application()
    const { id, publishableKey, secretKey } = only(instances)
    expect(created).toEqual({
      applicationId,
      name: 'Shop',
      instances: [{ instanceId: id, environmentType: 'development', publishableKey, secretKey }],
    })
  })

  it('sends everything that is given, in the provider’s words', async () => {
    const { instances } = await fixture.client().createApplication({
      name: 'Shop',
      environmentTypes: ['development', 'production'],
      domain: 'shop.example.com',
      template: 'b2b-saas',
    })
    expect(JSON.parse(only(requests).text)).toEqual({
      name: 'Shop',
      environment_types: ['development', 'production'],
      domain: 'shop.example.com',
      template: 'b2b-saas',
    })
    expect(instances.map(({ environmentType }) => environmentType)).toEqual(['development', 'production'])
  })

  it('leaves out the keys that the answer does not hold', async () => {
    provider.settings.secretKeysOnCreate = false
    const { instances } = await fixture.client().createApplication({ name: 'Shop' })
    expect(only(instances)).toMatchObject({ secretKey: undefined, publishableKey: expect.any(String) })
  })

  it('may take all the time that it was given, because it is not sent again', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await fixture.client({ timeoutMs: 60_000 }).createApplication({ name: 'Shop' })
    const lengths = timers.mock.calls.map(([, milliseconds = 0]) => milliseconds)
    timers.mockRestore()
    expect(lengths.some((length) => length > 50_000 && length <= 60_000)).toBe(true)
  })
})

describe('getApplication', () => {
  it('shows no secret key unless it is asked for', async () => {
    const { applicationId } = provider.addApplication({ name: 'Shop' })
    const { instances } = await fixture.client().getApplication(applicationId)
    expect(asked()).toEqual([`GET ${applicationsPath}/${applicationId}`])
    expect(only(instances).secretKey).toBeUndefined()
  })

  it('shows the secret keys where it is', async () => {
    const { applicationId, instances } = provider.addApplication({ name: 'Shop' })
    const read = await fixture.client().getApplication(applicationId, { includeSecretKeys: true })
    expect(asked()).toEqual([`GET ${applicationsPath}/${applicationId}?include_secret_keys=true`])
    expect(only(read.instances).secretKey).toBe(only(instances).secretKey)
  })

  it('asks for the id as it is, whatever characters it has', async () => {
    await failureOf(fixture.client().getApplication('app_1/../2?x'))
    expect(asked()).toEqual([`GET ${applicationsPath}/app_1%2F..%2F2%3Fx`])
  })
})

describe('listApplications', () => {
  it('gives all of them at once', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `App ${index}`)
    for (const name of names) provider.addApplication({ name })
    const listed = await fixture.client().listApplications()
    expect(listed.map(({ name }) => name)).toEqual(names)
    expect(JSON.stringify(listed)).not.toContain('sk_')
    expect(asked()).toEqual([`GET ${applicationsPath}`])
  })

  it('shows the secret keys where that is asked for', async () => {
    const { instances } = provider.addApplication({ name: 'Shop' })
    const listed = await fixture.client().listApplications({ includeSecretKeys: true })
    expect(asked()).toEqual([`GET ${applicationsPath}?include_secret_keys=true`])
    expect(listed).toMatchObject([{ instances: [{ secretKey: only(instances).secretKey }] }])
  })

  it('gives none where there is none', async () => {
    expect(await fixture.client().listApplications()).toEqual([])
  })
})

describe('deleteApplication', () => {
  it('deletes this one, and no other', async () => {
    const [shop, blog] = [
      provider.addApplication({ name: 'Shop' }),
      provider.addApplication({ name: 'Blog' }),
    ]
    expect(await fixture.client().deleteApplication(shop.applicationId)).toBeUndefined()
    expect(asked()).toEqual([`DELETE ${applicationsPath}/${shop.applicationId}`])
    expect([...provider.applications.keys()]).toEqual([blog.applicationId])
  })

  it('tells an application that is gone already by the provider’s 404', async () => {
    expect(await failureOf(fixture.client().deleteApplication('app_gone'))).toMatchObject({
      code: 'provider_rejected',
      provider: { status: 404, code: 'resource_not_found' },
    })
  })
})

describe('an id that would lead out of the list', () => {
  it.each(['', '.', '..'])('is refused before anything leaves: “%s”', async (id) => {
    provider.addApplication({ name: 'Shop' })
    const { deleteApplication, getApplication } = fixture.client()
    for (const call of [deleteApplication, getApplication]) {
      await expect(call(id)).rejects.toMatchObject({ code: 'invalid_arguments' })
    }
    expect(requests).toEqual([])
    expect(provider.applications.size).toBe(1)
  })
})

describe('a client', () => {
  it('speaks to the provider’s own address unless it is told another', async () => {
    const fetched: string[] = []
    const client = createIdpPlatformClient({
      platformApiKey: hostToken,
      fetch: async (input, init) => {
        fetched.push(new Request(input, init).url)
        return provider.fetch(input, init)
      },
    })
    await client.listApplications()
    expect(fetched).toEqual([`https://api.clerk.com${applicationsPath}`])
  })

  it.each(['', '  ', 'ak_a\nb', 'ak_é', 'ak_“quoted”'])(
    'refuses a token that can’t be one, and sends nothing: %j',
    async (platformApiKey) => {
      const failure = await failureOf(fixture.client({ platformApiKey }).createApplication({ name: 'Shop' }))
      expect(failure).toMatchObject({ code: 'missing_credentials', retryable: false, sent: 'no' })
      expect(requests).toEqual([])
    },
  )
})
