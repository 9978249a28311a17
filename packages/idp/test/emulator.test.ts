import { describe, expect, it } from 'vitest'
import type { IdpClient } from '../src/index.ts'
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
})

describe('the emulator refuses', () => {
  const create = (user: object) => (idp: IdpClient) => idp.createUser({ ...ada, ...user })
  const change = (user: object) => (idp: IdpClient) => idp.updateUser('taken', user)
  const list = (options: object) => (idp: IdpClient) => idp.listUsers(options)
  const organization = (fields: object) => (idp: IdpClient) =>
    idp.createOrganization({ name: 'Acme', ...fields })

  it.each<[string, string, (idp: IdpClient) => Promise<unknown>]>([
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
    ['an organization without a name', 'form_param_nil', organization({ name: ' ' })],
    ['a taken slug', 'form_identifier_exists', organization({ slug: 'taken' })],
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
