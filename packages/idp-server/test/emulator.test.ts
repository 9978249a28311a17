import { createIdpClient } from '@org/idp'
import { describe, expect, it } from 'vitest'
import { applicationsPath, failureOf, hostToken, runPlatformApi } from './support.ts'

const fixture = runPlatformApi()
const { provider } = fixture
const { applications, backend } = provider

const refused = async (call: Promise<unknown>) => (await failureOf(call)).provider?.code
const production = { name: 'Shop', domain: 'example.com', environmentTypes: ['production'] } as const
const instanceOf = (secretKey: string | undefined) =>
  createIdpClient({ secretKey: secretKey ?? '', baseUrl: fixture.url, wait: async () => {} })

it('an emulated application has one instance for each environment, with keys that work', async () => {
  const environmentTypes = ['production', 'development'] as const
  const { instances } = await fixture.client().createApplication({ ...production, environmentTypes })
  expect(instances).toMatchObject([
    { environmentType: 'development', secretKey: expect.stringMatching(/^sk_test_/) },
    { environmentType: 'production', publishableKey: `pk_live_${btoa('clerk.example.com$')}` },
  ])
  for (const { instanceId, environmentType, secretKey } of instances) {
    expect(await instanceOf(secretKey).getInstance()).toEqual({ id: instanceId, environmentType })
  }
})

describe('the emulator refuses', () => {
  it.each<[number, string, object]>([
    [422, 'form_param_missing', {}],
    [422, 'form_param_nil', { name: ' ' }],
    [422, 'form_param_unknown', { name: 'Shop', environmentType: 'development' }],
    [422, 'form_param_type_invalid', { name: 'Shop', environment_types: 'development' }],
    [400, 'invalid_environment_type', { name: 'Shop', environment_types: ['staging'] }],
    [422, 'form_param_value_invalid', { name: 'Shop', template: 'b2b' }],
    [422, 'form_param_format_invalid', { name: 'Shop', domain: 'https://example.com' }],
    [422, 'form_conditional_param_missing', { name: 'Shop', environment_types: ['production'] }],
  ])('a create with %i %s: %j', async (status, code, body) => {
    const headers = { authorization: `Bearer ${hostToken}`, 'content-type': 'application/json' }
    const url = new URL(applicationsPath, fixture.url)
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    expect([response.status, await response.json()]).toMatchObject([status, { errors: [{ code }] }])
    expect(applications.size).toBe(0)
  })

  it('an access token at the Backend API, and a secret key at the Platform API', async () => {
    expect(await refused(instanceOf(hostToken).countUsers())).toBe('clerk_key_invalid')
    const platform = fixture.client({ platformApiKey: backend.instance.secretKey })
    expect(await refused(platform.listApplications())).toBe('authentication_invalid')
  })
})
