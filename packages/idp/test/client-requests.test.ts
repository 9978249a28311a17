import { describe, expect, it } from 'vitest'
import type { IdpClient } from '../src/index.ts'
import { runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests, respondWith } = fixture

/** Responses that let each call succeed by itself. */
const wireUser = { id: 'user_1', created_at: 0, updated_at: 0 }
const wireInstance = { id: 'ins_1', environment_type: 'development' }
const noOrganizations = { data: [], total_count: 0 }
const wireOrganization = { id: 'org_1', name: 'Shop', created_at: 0, updated_at: 0 }

describe('each method sends the documented request:', () => {
  it.each<[string, (idp: IdpClient) => Promise<unknown>, string, object | undefined, unknown]>([
    [
      'createUser with one address, which becomes a list',
      (idp) =>
        idp.createUser({
          emailAddress: 'ada@example.com',
          firstName: 'Ada',
          lastName: 'Lovelace',
          username: 'ada-l',
          phoneNumber: '+15555550100',
          password: 'a long pass phrase',
          externalId: 'c-1',
          publicMetadata: { plan: 'pro' },
          privateMetadata: { note: 'x' },
          unsafeMetadata: { theme: 'dark' },
          skipPasswordRequirement: false,
          skipPasswordChecks: true,
        }),
      'POST /users',
      {
        email_address: ['ada@example.com'],
        first_name: 'Ada',
        last_name: 'Lovelace',
        username: 'ada-l',
        phone_number: ['+15555550100'],
        password: 'a long pass phrase',
        external_id: 'c-1',
        public_metadata: { plan: 'pro' },
        private_metadata: { note: 'x' },
        unsafe_metadata: { theme: 'dark' },
        skip_password_requirement: false,
        skip_password_checks: true,
      },
      wireUser,
    ],
    [
      'createUser with several addresses alone',
      (idp) => idp.createUser({ emailAddress: ['a@example.com', 'b@example.com'] }),
      'POST /users',
      { email_address: ['a@example.com', 'b@example.com'] },
      wireUser,
    ],
    ['getUser', (idp) => idp.getUser('user_1'), 'GET /users/user_1', undefined, wireUser],
    [
      'updateUser without metadata',
      (idp) => idp.updateUser('user_1', { firstName: '', username: 'ada' }),
      'PATCH /users/user_1',
      { first_name: '', username: 'ada' },
      wireUser,
    ],
    [
      'updateUser with metadata alone',
      (idp) => idp.updateUser('user_1', { publicMetadata: { plan: null }, firstName: undefined }),
      'PATCH /users/user_1/metadata',
      { public_metadata: { plan: null } },
      wireUser,
    ],
    ['updateUser with nothing', (idp) => idp.updateUser('user_1', {}), 'PATCH /users/user_1', {}, wireUser],
    ['deleteUser', (idp) => idp.deleteUser('user_1'), 'DELETE /users/user_1', undefined, { deleted: true }],
    ['countUsers', (idp) => idp.countUsers(), 'GET /users/count', undefined, { total_count: 1 }],
    [
      'countUsers with every filter',
      (idp) =>
        idp.countUsers({ query: 'a+b', emailAddress: ['a@example.com', 'b@example.com'], banned: false }),
      'GET /users/count?query=a+b&email_address=a@example.com&email_address=b@example.com&banned=false',
      undefined,
      { total_count: 1 },
    ],
    [
      'createOrganization',
      (idp) =>
        idp.createOrganization({
          name: 'Shop',
          slug: 'shop',
          createdBy: 'user_1',
          maxAllowedMemberships: 0,
          publicMetadata: { a: 1 },
          privateMetadata: { b: 2 },
        }),
      'POST /organizations',
      {
        name: 'Shop',
        slug: 'shop',
        created_by: 'user_1',
        max_allowed_memberships: 0,
        public_metadata: { a: 1 },
        private_metadata: { b: 2 },
      },
      wireOrganization,
    ],
    ['listOrganizations', (idp) => idp.listOrganizations(), 'GET /organizations', undefined, noOrganizations],
    [
      'listOrganizations with every parameter',
      (idp) =>
        idp.listOrganizations({
          limit: 5,
          offset: 0,
          query: 'sh',
          includeMembersCount: false,
          orderBy: '+name',
        }),
      'GET /organizations?limit=5&offset=0&query=sh&include_members_count=false&order_by=+name',
      undefined,
      noOrganizations,
    ],
    ['getInstance', (idp) => idp.getInstance(), 'GET /instance', undefined, wireInstance],
    ['listDomains', (idp) => idp.listDomains(), 'GET /domains', undefined, { data: [] }],
  ])('%s', async (_what, call, line, body, answer) => {
    respondWith(answer)
    await call(fixture.client())
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([line])
    const { headers, text } = requests[0] ?? expect.fail()
    expect(text === '' ? undefined : JSON.parse(text)).toEqual(body)
    expect(headers.get('content-type')).toBe(body ? 'application/json' : null)
    expect(headers.get('clerk-api-version')).toBe('2026-05-12')
    expect(headers.get('authorization')).toBe(`Bearer ${backend.instance.secretKey}`)
  })
})
