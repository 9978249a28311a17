import { type Served, serve } from '@org/core/testing'
import { rateLimited } from '@org/idp/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createPlatformApi, platformNotEnabled } from '../src/testing/index.ts'

const platform = createPlatformApi()
const { applications, backend } = platform
const path = '/v1/platform/applications'
let server: Served

beforeAll(async () => {
  server = await serve(platform.fetch)
})
beforeEach(() => platform.reset())
afterAll(() => server.close())

async function call(method: string, target: string, { body, token = 'ak_emulated' }: CallOptions = {}) {
  const response = await fetch(server.url + target, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(token.startsWith('sk_') ? { 'clerk-api-version': '2026-05-12' } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

interface CallOptions {
  body?: object
  token?: string
}

const create = (body: object) => call('POST', path, { body })

const wireApplication = z.looseObject({
  application_id: z.string(),
  instances: z.array(z.looseObject({ instance_id: z.string(), secret_key: z.string() })),
})

/** Creates a development application, and reads its id and its secret key. */
async function created(name: string): Promise<{ id: string; secretKey: string }> {
  const { application_id, instances } = wireApplication.parse((await create({ name })).body)
  return { id: application_id, secretKey: instances[0]?.secret_key ?? '' }
}

const refused = (status: number, code: string, param_name?: string) => ({
  status,
  body: {
    errors: [{ code, long_message: expect.any(String), ...(param_name ? { meta: { param_name } } : {}) }],
    clerk_trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  },
})

describe('POST /platform/applications', () => {
  it('needs a name alone, and makes a development instance with its keys', async () => {
    const { status, body } = await create({ name: 'Shop' })
    expect(status).toBe(200)
    const [instance] = [...applications.values()][0]?.instances ?? []
    expect(body).toMatchObject({
      application_id: expect.stringMatching(/^app_[A-Za-z0-9]{27}$/),
      name: 'Shop',
      instances: [
        {
          instance_id: instance?.id,
          environment_type: 'development',
          publishable_key: `pk_test_${btoa(`${instance?.frontendHost}$`)}`,
          secret_key: expect.stringMatching(/^sk_test_[A-Za-z0-9]{42}$/),
        },
      ],
      emulated: true,
    })
    expect(body).not.toHaveProperty('id')
  })

  it('makes both environments, production on the domain', async () => {
    const fields = { name: 'Shop', domain: 'Shop.example.com', template: 'b2b-saas', proxy_path: '/__clerk' }
    const { body } = await create({ ...fields, environment_types: ['production', 'development'] })
    expect(body).toMatchObject({
      instances: [
        { environment_type: 'development', publishable_key: expect.stringMatching(/^pk_test_/) },
        {
          environment_type: 'production',
          publishable_key: `pk_live_${btoa('clerk.shop.example.com$')}`,
          secret_key: expect.stringMatching(/^sk_live_/),
        },
      ],
    })
  })

  it('gives two applications of the same name their own id and keys', async () => {
    const [one, other] = [await created('Shop'), await created('Shop')]
    expect(one.id).not.toBe(other.id)
    expect(one.secretKey).not.toBe(other.secretKey)
  })

  it.each([
    [422, 'form_param_missing', 'name', {}],
    [422, 'form_param_nil', 'name', { name: ' ' }],
    [422, 'form_param_type_invalid', 'name', { name: 7 }],
    [422, 'form_param_unknown', 'environmentType', { name: 'Shop', environmentType: 'development' }],
    [422, 'form_param_type_invalid', 'environment_types', { name: 'Shop', environment_types: 'development' }],
    [400, 'invalid_environment_type', undefined, { name: 'Shop', environment_types: ['staging'] }],
    [400, 'invalid_environment_type', undefined, { name: 'Shop', environment_types: [] }],
    [
      422,
      'duplicate_list_items_not_allowed',
      undefined,
      { name: 'Shop', environment_types: ['development', 'development'] },
    ],
    [422, 'form_param_value_invalid', 'template', { name: 'Shop', template: 'b2b' }],
    [422, 'form_param_format_invalid', 'proxy_path', { name: 'Shop', proxy_path: '__clerk/a' }],
    [422, 'form_param_format_invalid', 'domain', { name: 'Shop', domain: 'https://example.com' }],
    [422, 'form_conditional_param_missing', 'domain', { name: 'Shop', environment_types: ['production'] }],
  ])('refuses with %i %s for %s', async (status, code, param, body) => {
    expect(await create(body)).toMatchObject(refused(status, code, param))
    expect(applications.size).toBe(0)
  })

  it('refuses a domain that another application has in production', async () => {
    const fields = { name: 'Shop', domain: 'example.com', environment_types: ['production'] }
    expect((await create(fields)).status).toBe(200)
    expect(await create({ ...fields, domain: 'EXAMPLE.com' })).toMatchObject(
      refused(422, 'home_url_taken', 'domain'),
    )
    platform.removeApplication([...applications.keys()][0] ?? '')
    expect((await create(fields)).status).toBe(200)
  })

  it('may answer without secret keys, which a read then shows', async () => {
    platform.settings.secretKeysOnCreate = false
    const { body } = await create({ name: 'Shop' })
    expect(body).not.toHaveProperty('instances.0.secret_key')
    const [id] = applications.keys()
    const read = await call('GET', `${path}/${id}?include_secret_keys=true`)
    expect(read.body).toHaveProperty('instances.0.secret_key')
  })
})

describe('reading applications', () => {
  it('gives all of them as a bare array, without secret keys', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `App ${index}`)
    for (const name of names) platform.addApplication({ name })
    const { status, body } = await call('GET', path)
    expect(status).toBe(200)
    expect(body).toMatchObject(names.map((name) => ({ name })))
    expect(JSON.stringify(body)).not.toContain('sk_')
  })

  it.each(['', '?include_secret_keys=false'])('of one hides the secret keys with “%s”', async (query) => {
    const { id } = await created('Shop')
    const { status, body } = await call('GET', `${path}/${id}${query}`)
    expect({ status, body }).toMatchObject({ status: 200, body: { application_id: id, name: 'Shop' } })
    expect(JSON.stringify(body)).not.toContain('sk_')
  })

  it('shows the secret keys where that is asked for', async () => {
    const { id, secretKey } = await created('Shop')
    const shown = { instances: [{ secret_key: secretKey }] }
    expect((await call('GET', `${path}/${id}?include_secret_keys=true`)).body).toMatchObject(shown)
    expect((await call('GET', `${path}?include_secret_keys=true`)).body).toMatchObject([shown])
  })
})

describe('DELETE /platform/applications/{id}', () => {
  it('says what it deleted; from then on there is no such application', async () => {
    const { id } = await created('Shop')
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject({
      status: 200,
      body: { deleted: true, object: 'deleted', id },
    })
    expect((await call('GET', path)).body).toEqual([])
    expect(await call('GET', `${path}/${id}`)).toMatchObject(refused(404, 'resource_not_found'))
    expect(await call('DELETE', `${path}/${id}`)).toMatchObject(refused(404, 'resource_not_found'))
  })

  it('kills the secret keys of that application, and no other', async () => {
    const [shop, blog] = [await created('Shop'), await created('Blog')]
    await call('DELETE', `${path}/${shop.id}`)
    expect(await call('GET', '/v1/instance', { token: shop.secretKey })).toMatchObject(
      refused(401, 'clerk_key_invalid'),
    )
    expect((await call('GET', '/v1/instance', { token: blog.secretKey })).status).toBe(200)
  })
})

describe('the Backend API behind it', () => {
  it('keeps the users of each application apart', async () => {
    const [shop, blog] = [await created('Shop'), await created('Blog')]
    const body = { email_address: ['ann@example.org'] }
    expect((await call('POST', '/v1/users', { body, token: shop.secretKey })).status).toBe(200)
    const counts = []
    for (const token of [shop.secretKey, blog.secretKey, backend.instance.secretKey]) {
      counts.push((await call('GET', '/v1/users/count', { token })).body)
    }
    expect(counts).toMatchObject([{ total_count: 1 }, { total_count: 0 }, { total_count: 0 }])
  })

  it('lists the frontend API that the publishable key holds', async () => {
    const [instance] = platform.addApplication({ name: 'Shop' }).instances
    const { body } = await call('GET', '/v1/domains', { token: instance?.secretKey ?? '' })
    expect(body).toMatchObject({ data: [{ frontend_api_url: `https://${instance?.frontendHost}` }] })
  })

  it('has the settings that new instances shall have', async () => {
    platform.settings.newInstances = { organizationsEnabled: false }
    const { secretKey } = await created('Shop')
    expect((await call('GET', '/v1/organizations', { token: secretKey })).status).toBe(403)
  })
})

describe('a call is refused', () => {
  it('without a token', async () => {
    const response = await fetch(server.url + path)
    const answer = { status: response.status, body: await response.json() }
    expect(answer).toMatchObject(refused(401, 'authorization_header_format_invalid'))
  })

  it('with an unknown or withdrawn token, and with the secret key of an instance', async () => {
    const refusal = refused(401, 'authentication_invalid')
    expect(await call('GET', path, { token: 'ak_other' })).toMatchObject(refusal)
    expect(await call('GET', path, { token: backend.instance.secretKey })).toMatchObject(refusal)
    platform.settings.accessTokens = ['ak_new']
    expect(await call('GET', path)).toMatchObject(refusal)
    expect((await call('GET', path, { token: 'ak_new' })).status).toBe(200)
  })

  it('by the Backend API with an access token', async () => {
    expect(await call('GET', '/v1/users')).toMatchObject(refused(401, 'clerk_key_invalid'))
  })

  it('on a path or with a method that there is not', async () => {
    for (const [method, target] of [
      ['PUT', path],
      ['PATCH', `${path}/app_1`],
      ['GET', '/v1/platform/nothing'],
    ] as const) {
      expect(await call(method, target)).toMatchObject(refused(404, 'resource_not_found'))
    }
  })
})

describe('a fault', () => {
  it.each([
    [402, 'unsupported_subscription_plan_features'],
    [403, 'authorization_invalid'],
    [404, 'resource_not_found'],
  ] as const)('of a beta that is not enabled answers %i', async (status, code) => {
    platform.faults.add({ path, times: Number.POSITIVE_INFINITY, ...platformNotEnabled(status) })
    expect(await create({ name: 'Shop' })).toMatchObject(refused(status, code))
    expect(await create({ name: 'Shop' })).toMatchObject(refused(status, code))
    expect(applications.size).toBe(0)
  })

  it('of too many requests says when to come back', async () => {
    platform.faults.add({ path, ...rateLimited(3) })
    const answer = await create({ name: 'Shop' })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('3')
  })

  it.each([
    ['before', 0],
    ['after', 1],
    ['during', 1],
  ] as const)('that cuts %s a create leaves %i applications behind', async (cut, left) => {
    platform.faults.add({ method: 'POST', path, cut })
    await expect(create({ name: 'Shop' })).rejects.toThrow()
    expect((await call('GET', path)).body).toHaveLength(left)
  })
})

describe('the emulator', () => {
  it('remembers the calls of both APIs in one list, and no key', async () => {
    const { secretKey } = await created('Shop')
    await call('GET', '/v1/users', { token: secretKey })
    const [instance] = [...applications.values()][0]?.instances ?? []
    expect(platform.calls).toMatchObject([
      { method: 'POST', path, status: 200, instanceId: undefined },
      { method: 'GET', path: '/v1/users', status: 200, instanceId: instance?.id },
    ])
    expect(JSON.stringify(platform.calls)).not.toMatch(/[as]k_/)
  })

  it('forgets everything', async () => {
    const { secretKey } = await created('Shop')
    backend.instance.createUser()
    platform.settings.accessTokens = []
    platform.faults.add({ cut: 'before' })
    platform.reset()
    expect(platform.calls).toEqual([])
    expect((await call('GET', path)).body).toEqual([])
    expect((await call('GET', '/v1/users', { token: secretKey })).status).toBe(401)
    expect(backend.users.size).toBe(0)
  })
})
