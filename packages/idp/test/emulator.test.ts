import { describe, expect, it } from 'vitest'
import type { IdpClient } from '../src/index.ts'
import { internalError, rateLimited, underMaintenance } from '../src/testing/index.ts'
import { failureOf, runIdp } from './support.ts'

const fixture = runIdp({}, { environmentType: 'production' })
const { backend } = fixture
const [development, production] = [...backend.instances.values()]
if (!development || !production) throw new Error('The emulator starts with two instances.')

const refused = async (call: Promise<unknown>) => (await failureOf(call)).provider?.code
const ada = { emailAddress: 'ada@example.com' }

/** Sends a request that the client would not send. */
async function send(method: string, path: string, init: { body?: string; headers?: object } = {}) {
  const headers = {
    authorization: `Bearer ${development?.secretKey}`,
    'clerk-api-version': '2026-05-12',
    'content-type': 'application/json',
    ...init.headers,
  }
  const response = await fetch(fixture.url + path, { method, headers, body: init.body ?? null })
  return { status: response.status, body: await response.json() }
}

describe('an instance of the emulator', () => {
  it('has keys of its environment, and a publishable key that holds its frontend host', () => {
    expect(development.secretKey).toMatch(/^sk_test_[A-Za-z0-9]{42}$/)
    expect(development.publishableKey).toBe(`pk_test_${btoa(`${development.frontendHost}$`)}`)
    expect(production.secretKey).toMatch(/^sk_live_[A-Za-z0-9]{42}$/)
    expect(production.publishableKey).toBe(`pk_live_${btoa('clerk.example.com$')}`)
  })

  it('refuses a user without a password, and more users than it has room for, if its settings say so', async () => {
    development.settings.passwordRequired = true
    expect(await refused(fixture.client().createUser(ada))).toBe('form_data_missing')
    await fixture.client().createUser({ ...ada, skipPasswordRequirement: true })
    development.settings.maxUsers = 1
    const bob = { emailAddress: 'bob@example.com', password: 'correct horse' }
    expect(await refused(fixture.client().createUser(bob))).toBe('user_quota_exceeded')
  })

  it('removes a deleted user from every organization', async () => {
    const { id } = development.createUser()
    const organization = development.createOrganization({ created_by: id })
    await fixture.client().deleteUser(id)
    expect(development.members.get(organization.id)?.size).toBe(0)
  })
})

describe('the emulator refuses', () => {
  const create = (user: object) => (idp: IdpClient) => idp.createUser({ ...ada, ...user })
  const change = (user: object) => (idp: IdpClient) => idp.updateUser('taken', user)
  const list = (options: object) => (idp: IdpClient) => idp.listUsers(options)
  const organization = (fields: object) => (idp: IdpClient) =>
    idp.createOrganization({ name: 'Acme', ...fields })

  it.each<[string, string, (idp: IdpClient) => Promise<unknown>]>([
    ['a user without an identifier', 'form_data_missing', (idp) => idp.createUser({ firstName: 'Ada' })],
    ['an invalid address', 'form_param_format_invalid', create({ emailAddress: 'ada' })],
    ['an invalid number', 'form_param_format_invalid', create({ phoneNumber: '555-0100' })],
    ['an invalid username', 'form_username_invalid_character', create({ username: 'ada lovelace' })],
    ['a short password', 'form_password_length_too_short', create({ password: 'a1b2c3d' })],
    ['a leaked password', 'form_password_pwned', create({ password: 'Password123' })],
    ['a taken address', 'form_identifier_exists', create({ emailAddress: 'TAKEN@example.com' })],
    ['a taken number', 'form_identifier_exists', create({ phoneNumber: '+15550100200' })],
    ['a taken external id', 'form_identifier_exists', create({ externalId: 'crm-1' })],
    ['one address twice', 'form_identifier_exists', create({ emailAddress: ['a@b.co', 'a@b.co'] })],
    ['an option alone', 'form_conditional_param_missing', change({ skipPasswordChecks: true })],
    ['a limit above 500', 'form_param_value_invalid', list({ limit: 501 })],
    ['an unknown order', 'form_param_value_invalid', list({ orderBy: 'password' })],
    ['an unknown cursor', 'form_resource_not_found', list({ startingAfter: 'user_none' })],
    [
      'both an offset and a cursor',
      'form_conditional_param_disallowed',
      list({ startingAfter: 'u', offset: 1 }),
    ],
    [
      'more than 100 addresses',
      'form_param_array_size_exceeded',
      list({ emailAddress: Array(101).fill('a') }),
    ],
    ['an organization without a name', 'form_param_nil', organization({ name: ' ' })],
    ['an invalid slug', 'form_param_format_invalid', organization({ slug: 'Acme_1' })],
    ['a taken slug', 'form_identifier_exists', organization({ slug: 'taken' })],
    ['an unknown creator', 'organization_creator_not_found', organization({ createdBy: 'user_none' })],
  ])('%s, with %s', async (_what, code, call) => {
    const fields = {
      email_address: ['taken@example.com'],
      phone_number: ['+15550100200'],
      external_id: 'crm-1',
    }
    backend.users.set('taken', development.createUser(fields))
    development.createOrganization({ slug: 'taken' })
    const before = backend.users.size
    expect(await refused(call(fixture.client()))).toBe(code)
    expect([backend.users.size, backend.organizations.size]).toEqual([before, 1])
  })

  const textType = { 'content-type': 'text/plain' }
  it.each<[number, string, string, string, object]>([
    [422, 'form_param_unknown', 'POST', '/users', { body: '{"emailAddress":"ada@example.com"}' }],
    [422, 'form_param_unknown', 'PATCH', '/users/{id}', { body: '{"public_metadata":{}}' }],
    [422, 'form_param_unknown', 'PATCH', '/users/{id}/metadata', { body: '{"first_name":"Ada"}' }],
    [422, 'form_param_unknown', 'GET', '/users?emailAddress=ada@example.com', {}],
    [422, 'form_param_type_invalid', 'POST', '/users', { body: '{"email_address":"ada@example.com"}' }],
    [422, 'form_param_missing', 'POST', '/organizations', { body: '{}' }],
    [400, 'request_body_invalid', 'POST', '/users', { body: '[]' }],
    [415, 'unsupported_content_type', 'POST', '/users', { body: '{}', headers: textType }],
    [404, 'resource_not_found', 'PUT', '/users', {}],
    [404, 'resource_not_found', 'GET', '/user', {}],
    [401, 'authorization_header_format_invalid', 'GET', '/users', { headers: { authorization: 'Basic x' } }],
    [400, 'api_version_invalid', 'GET', '/users', { headers: { 'clerk-api-version': '2025-11-10' } }],
  ])('a request that the client never sends, with %i %s: %s %s', async (status, code, method, path, init) => {
    const { id } = development.createUser()
    expect(await send(method, path.replace('{id}', id), init)).toMatchObject({
      status,
      body: { errors: [{ code, long_message: expect.any(String) }], clerk_trace_id: expect.any(String) },
    })
  })
})

it('the emulator has the faults of the provider, in its words', async () => {
  backend.faults.add(rateLimited(7), internalError(), underMaintenance())
  const codes = ['too_many_requests', 'internal_clerk_error', 'maintenance_mode']
  for (const code of codes) expect((await send('GET', '/users')).body).toMatchObject({ errors: [{ code }] })
})

it('a reset restores the first instances, settings and domains, and forgets everything else', async () => {
  const added = backend.addInstance()
  development.createUsers(3)
  development.createOrganizations(2)
  development.settings.secretKeyRevoked = true
  development.domains.length = 0
  backend.removeInstance(production.id)
  backend.faults.add({ cut: 'before' })
  await refused(fixture.client().countUsers())
  backend.reset()
  expect([...backend.instances.keys()]).toEqual([development.id, production.id])
  expect(backend.findInstance(added.secretKey)).toBeUndefined()
  expect([backend.users.size, backend.organizations.size, backend.calls.length]).toEqual([0, 0, 0])
  expect(await fixture.client().listDomains()).toHaveLength(1)
})
