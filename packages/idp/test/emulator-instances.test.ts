import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  buildDomain,
  createBackendApi,
  internalError,
  rateLimited,
  underMaintenance,
} from '../src/testing/index.ts'
import { callerOf } from './emulator-calls.ts'

const backend = createBackendApi({
  instances: [{}, { environmentType: 'production' }],
})
const [development, production] = [...backend.instances.values()]
if (!development || !production) throw new Error('There are two instances.')
let server: Served
const call = callerOf(() => server.url, backend)

beforeAll(async () => {
  server = await serve(backend.fetch)
})
beforeEach(() => backend.reset())
afterAll(() => server.close())

const refusal = (code: string, words: unknown = expect.any(String)) => ({
  errors: [expect.objectContaining({ code, message: expect.any(String), long_message: words })],
  clerk_trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
})

describe('an instance', () => {
  it('has keys that begin with its environment', () => {
    expect(development.secretKey).toMatch(/^sk_test_[A-Za-z0-9]{42}$/)
    expect(production.secretKey).toMatch(/^sk_live_[A-Za-z0-9]{42}$/)
    expect(development.id).toMatch(/^ins_[A-Za-z0-9]{27}$/)
  })

  it('has a publishable key that holds its frontend host', () => {
    expect(development.frontendHost).toMatch(/^[a-z]+-[a-z]+-\d+\.clerk\.accounts\.dev$/)
    expect(development.publishableKey).toBe(`pk_test_${btoa(`${development.frontendHost}$`)}`)
    expect(production.publishableKey).toBe('pk_live_Y2xlcmsuZXhhbXBsZS5jb20k')
  })

  it('says what it is', async () => {
    expect(await call('GET', '/v1/instance', { instance: production })).toMatchObject({
      status: 200,
      body: {
        object: 'instance',
        id: production.id,
        environment_type: 'production',
        allowed_origins: null,
        workspace_id: expect.stringMatching(/^org_/),
      },
    })
  })

  it('lists its domains, with their frontend API', async () => {
    const { body } = await call('GET', '/v1/domains')
    expect(body).toMatchObject({
      data: [
        { object: 'domain', is_satellite: false, frontend_api_url: `https://${development.frontendHost}` },
      ],
      total_count: 1,
    })
    const live = await call('GET', '/v1/domains', { instance: production })
    expect(live.body).toMatchObject({
      data: [
        {
          name: 'example.com',
          frontend_api_url: 'https://clerk.example.com',
          accounts_portal_url: 'https://accounts.example.com',
          cname_targets: [{ host: 'clerk.example.com', required: true }],
        },
      ],
    })
  })

  it('lists a domain that was added', async () => {
    production.domains.push(buildDomain('clerk.example.org', 'production', { isSatellite: true }))
    const { body } = await call('GET', '/v1/domains', { instance: production })
    expect(body).toMatchObject({
      data: [{ name: 'example.com' }, { name: 'example.org', is_satellite: true, accounts_portal_url: null }],
      total_count: 2,
    })
  })

  it('shares no user and no organization with another', async () => {
    const user = development.createUser()
    production.createOrganization()
    expect((await call('GET', `/v1/users/${user.id}`, { instance: production })).status).toBe(404)
    const own = await call('GET', '/v1/users/count')
    const other = await call('GET', '/v1/users/count', { instance: production })
    expect([own.body, other.body]).toMatchObject([{ total_count: 1 }, { total_count: 0 }])
    expect((await call('GET', '/v1/organizations')).body).toMatchObject({ data: [], total_count: 0 })
    const body = { email_address: [user.email_addresses[0]?.email_address] }
    expect((await call('POST', '/v1/users', { body, instance: production })).status).toBe(200)
  })

  it('that is removed takes its key along', async () => {
    const added = backend.addInstance()
    expect((await call('GET', '/v1/instance', { instance: added })).status).toBe(200)
    backend.removeInstance(added.id)
    expect(await call('GET', '/v1/instance', { instance: added })).toMatchObject({
      status: 401,
      body: refusal('clerk_key_invalid'),
    })
  })

  it('answers with fields that no document names', async () => {
    const { body } = await call('GET', '/v1/instance')
    expect(body).toHaveProperty('emulated', true)
  })
})

describe('a call is refused', () => {
  it.each([
    ['without a token', {}],
    ['with a token that is not a bearer’s', { authorization: `Basic ${development.secretKey}` }],
  ])('%s', async (_case, headers) => {
    const response = await fetch(`${server.url}/v1/users`, { headers })
    expect(response.status).toBe(401)
    expect(await response.json()).toEqual({
      errors: [
        {
          code: 'authorization_header_format_invalid',
          message: 'Invalid Authorization header format',
          long_message: "Invalid Authorization header format. Must be 'Bearer <YOUR_API_KEY>'",
        },
      ],
      clerk_trace_id: response.headers.get('x-clerk-trace-id'),
    })
  })

  it('with an unknown key, before its version and its path are looked at', async () => {
    const headers = { authorization: 'Bearer sk_test_unknown', 'clerk-api-version': '1999-01-01' }
    expect(await call('GET', '/v1/nothing', { headers })).toMatchObject({
      status: 401,
      body: refusal('clerk_key_invalid', expect.stringContaining('Clerk Secret Key is invalid')),
    })
  })

  it('with a revoked key', async () => {
    development.settings.secretKeyRevoked = true
    expect((await call('GET', '/v1/users')).status).toBe(401)
    expect((await call('GET', '/v1/users', { instance: production })).status).toBe(200)
  })

  it('with another version of the API, or with none', async () => {
    const older = await call('GET', '/v1/users', { headers: { 'clerk-api-version': '2025-11-10' } })
    expect(older).toMatchObject({
      status: 400,
      body: refusal('api_version_invalid', 'Invalid Clerk API version: 2025-11-10 is not supported'),
    })
    const headers = { authorization: `Bearer ${development.secretKey}` }
    const none = await fetch(`${server.url}/v1/users`, { headers })
    expect(none.status).toBe(400)
    expect(await none.json()).toEqual(refusal('api_version_invalid', expect.stringContaining('is missing')))
  })

  it('on a path or with a method that there is not', async () => {
    for (const [method, path] of [
      ['GET', '/users'],
      ['GET', '/v1/user'],
      ['PUT', '/v1/users'],
    ] as const) {
      const answer = await call(method, path)
      expect(answer).toMatchObject({
        status: 404,
        body: refusal('resource_not_found', 'The URL was not found'),
      })
    }
  })
})

describe('a fault', () => {
  it('of too many requests says when to come back', async () => {
    backend.faults.add({ path: '/v1/users', ...rateLimited(7) })
    const refused = await call('GET', '/v1/users')
    expect(refused).toMatchObject({ status: 429, body: refusal('too_many_requests') })
    expect(refused.headers.get('retry-after')).toBe('7')
    expect((await call('GET', '/v1/users')).status).toBe(200)
  })

  it('on the provider’s side has its code', async () => {
    backend.faults.add(internalError(), underMaintenance())
    expect(await call('GET', '/v1/users')).toMatchObject({
      status: 500,
      body: refusal('internal_clerk_error'),
    })
    expect(await call('GET', '/v1/users')).toMatchObject({ status: 503, body: refusal('maintenance_mode') })
  })

  it('that cuts the connection after a create leaves the user behind', async () => {
    backend.faults.add({ method: 'POST', path: '/v1/users', cut: 'after' })
    const body = { email_address: ['ann@example.org'] }
    await expect(call('POST', '/v1/users', { body })).rejects.toThrow('fetch failed')
    expect((await call('GET', '/v1/users?email_address=ann@example.org')).body).toHaveLength(1)
  })
})

describe('the emulator', () => {
  it('remembers its calls and whose they were, and no key', async () => {
    await call('GET', '/v1/users?limit=1', { instance: production })
    await call('GET', '/v1/users', { headers: { authorization: 'Bearer sk_test_unknown' } })
    expect(backend.calls).toMatchObject([
      {
        method: 'GET',
        path: '/v1/users?limit=1',
        status: 200,
        instanceId: production.id,
        apiVersion: '2026-05-12',
      },
      { status: 401, instanceId: undefined },
    ])
    expect(JSON.stringify(backend.calls)).not.toContain('sk_')
  })

  it('forgets everything but its first instances', async () => {
    const added = backend.addInstance()
    development.createUsers(3)
    development.createOrganizations(2)
    development.settings.secretKeyRevoked = true
    development.domains.push(buildDomain('clerk.example.net', 'production', { isSatellite: true }))
    backend.removeInstance(production.id)
    backend.faults.add({ cut: 'before' })
    backend.reset()
    expect((await call('GET', '/v1/users')).body).toEqual([])
    expect((await call('GET', '/v1/organizations')).body).toMatchObject({ total_count: 0 })
    expect((await call('GET', '/v1/domains')).body).toMatchObject({ total_count: 1 })
    expect((await call('GET', '/v1/users', { instance: production })).status).toBe(200)
    expect((await call('GET', '/v1/users', { instance: added })).status).toBe(401)
    expect(backend.calls).toHaveLength(5)
  })
})
