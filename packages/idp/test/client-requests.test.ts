import { expect, it } from 'vitest'
import type { IdpClient } from '../src/index.ts'
import { runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests, respondWith } = fixture

/** A response that lets every method succeed. */
const response = {
  id: 'id_1',
  name: 'Shop',
  created_at: 0,
  updated_at: 0,
  deleted: true,
  total_count: 0,
  data: [],
  environment_type: 'development',
}
const sameNames = { username: 'ada-l', password: 'a long pass phrase' }

it.each<[string, (idp: IdpClient) => Promise<unknown>, string, object?]>([
  [
    'createUser',
    (idp) =>
      idp.createUser({
        emailAddress: 'ada@example.com',
        phoneNumber: ['+15555550100', '+15555550101'],
        firstName: 'Ada',
        lastName: 'Lovelace',
        externalId: 'c-1',
        publicMetadata: { plan: 'pro' },
        privateMetadata: { note: 'x' },
        unsafeMetadata: { darkMode: true },
        skipPasswordRequirement: false,
        skipPasswordChecks: true,
        ...sameNames,
      }),
    'POST /users',
    {
      email_address: ['ada@example.com'],
      phone_number: ['+15555550100', '+15555550101'],
      first_name: 'Ada',
      last_name: 'Lovelace',
      external_id: 'c-1',
      public_metadata: { plan: 'pro' },
      private_metadata: { note: 'x' },
      unsafe_metadata: { darkMode: true },
      skip_password_requirement: false,
      skip_password_checks: true,
      ...sameNames,
    },
  ],
  ['getUser', (idp) => idp.getUser('user_1'), 'GET /users/user_1'],
  [
    'updateUser without metadata',
    (idp) => idp.updateUser('user_1', { firstName: '', username: 'ada' }),
    'PATCH /users/user_1',
    { first_name: '', username: 'ada' },
  ],
  [
    'updateUser with metadata alone',
    (idp) => idp.updateUser('user_1', { publicMetadata: { plan: null }, firstName: undefined }),
    'PATCH /users/user_1/metadata',
    { public_metadata: { plan: null } },
  ],
  ['updateUser with nothing', (idp) => idp.updateUser('user_1', {}), 'GET /users/user_1'],
  ['deleteUser', (idp) => idp.deleteUser('user_1'), 'DELETE /users/user_1'],
  ['countUsers', (idp) => idp.countUsers(), 'GET /users/count'],
  [
    'countUsers with every filter',
    (idp) =>
      idp.countUsers({ query: 'a+b', emailAddress: ['a@example.com', 'b@example.com'], banned: false }),
    'GET /users/count?query=a+b&email_address=a@example.com&email_address=b@example.com&banned=false',
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
  ],
  ['listOrganizations', (idp) => idp.listOrganizations(), 'GET /organizations'],
  [
    'listOrganizations with every parameter',
    (idp) =>
      idp.listOrganizations({
        limit: 5,
        offset: 0,
        query: 'sh',
        includeMembersCount: false,
        orderBy: '-name',
      }),
    'GET /organizations?limit=5&offset=0&query=sh&include_members_count=false&order_by=-name',
  ],
  ['getInstance', (idp) => idp.getInstance(), 'GET /instance'],
  ['listDomains', (idp) => idp.listDomains(), 'GET /domains'],
])('the documented request is sent by %s', async (_what, call, line, body) => {
  respondWith(response)
  await call(fixture.client())
  expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual([line])
  const { headers, text } = requests[0] ?? expect.fail()
  expect(text === '' ? undefined : JSON.parse(text)).toEqual(body)
  expect(headers.get('content-type')).toBe(body ? 'application/json' : null)
  expect(headers.get('clerk-api-version')).toBe('2026-05-12')
  expect(headers.get('authorization')).toBe(`Bearer ${backend.instance.secretKey}`)
})
