import { describe, expect, it } from 'vitest'
import { NOW, runIdp } from './support.ts'

const arrangement = runIdp()
const { backend, requests, answerWith } = arrangement

/** The least that the provider may answer. */
const wireUser = { id: 'user_1', created_at: 0, updated_at: 0 }
const wireOrganization = { id: 'org_1', name: 'Shop', created_at: 0, updated_at: 0 }

describe('a user', () => {
  it('is shown with plain names, times in ISO 8601 and UTC, and the primary address', async () => {
    const idp = arrangement.client()
    const created = await idp.createUser({
      emailAddress: ['ada@example.com', 'countess@example.com'],
      firstName: 'Ada',
      phoneNumber: ['+15555550100', '+15555550101'],
      externalId: 'c-1',
      publicMetadata: { plan: 'pro' },
    })
    expect(created).toEqual({
      id: expect.stringMatching(/^user_/),
      emailAddress: 'ada@example.com',
      emailAddresses: ['ada@example.com', 'countess@example.com'],
      phoneNumber: '+15555550100',
      username: null,
      firstName: 'Ada',
      lastName: null,
      externalId: 'c-1',
      imageUrl: expect.stringMatching(/^https:/),
      banned: false,
      locked: false,
      publicMetadata: { plan: 'pro' },
      privateMetadata: {},
      unsafeMetadata: {},
      lastSignInAt: null,
      createdAt: NOW,
      updatedAt: NOW,
    })
    expect(await idp.getUser(created.id)).toEqual(created)
  })

  it('has the address that is the primary one, wherever it stands', async () => {
    const user = backend.instance.createUser({ email_address: ['a@example.com', 'b@example.com'] })
    user.primary_email_address_id = user.email_addresses[1]?.id ?? null
    user.last_sign_in_at = Date.parse('2026-11-19T23:59:59.999Z')
    expect(await arrangement.client().getUser(user.id)).toMatchObject({
      emailAddress: 'b@example.com',
      lastSignInAt: '2026-11-19T23:59:59.999Z',
    })
  })

  it.each([
    ['missing', { id: 'user_1', created_at: 1, updated_at: 2.5 }],
    [
      'null',
      {
        id: 'user_1',
        primary_email_address_id: null,
        email_addresses: null,
        primary_phone_number_id: null,
        phone_numbers: null,
        username: null,
        first_name: null,
        last_name: null,
        external_id: null,
        image_url: null,
        banned: null,
        locked: null,
        public_metadata: null,
        private_metadata: null,
        unsafe_metadata: null,
        last_sign_in_at: null,
        created_at: 1,
        updated_at: 2,
      },
    ],
    ['blank', { id: 'user_1', username: '', first_name: '', image_url: '', created_at: 1, updated_at: 2 }],
    ['unknown', { id: 'user_1', created_at: 1, updated_at: 2, passkeys: [{}], new_field: { a: [1] } }],
  ])('may come with fields that are %s', async (_what, answer) => {
    answerWith(answer)
    expect(await arrangement.client().getUser('user_1')).toEqual({
      id: 'user_1',
      emailAddress: null,
      emailAddresses: [],
      phoneNumber: null,
      username: null,
      firstName: null,
      lastName: null,
      externalId: null,
      imageUrl: null,
      banned: false,
      locked: false,
      publicMetadata: {},
      privateMetadata: {},
      unsafeMetadata: {},
      lastSignInAt: null,
      createdAt: '1970-01-01T00:00:00.001Z',
      updatedAt: '1970-01-01T00:00:00.002Z',
    })
  })

  it('has no primary address where none is named, also where an address has no id', async () => {
    answerWith({ ...wireUser, email_addresses: [{ email_address: 'a@example.com' }] })
    expect(await arrangement.client().getUser('user_1')).toMatchObject({
      emailAddress: null,
      emailAddresses: ['a@example.com'],
    })
  })

  it.each([1e20, -1, Number.MAX_SAFE_INTEGER, '2026-11-20', null])(
    'created at %j is an answer that can’t be understood',
    async (created_at) => {
      answerWith({ ...wireUser, created_at })
      await expect(arrangement.client().getUser('user_1')).rejects.toMatchObject({ code: 'provider_error' })
    },
  )

  it('that is deleted is gone', async () => {
    const { id } = backend.instance.createUser()
    expect(await arrangement.client().deleteUser(id)).toEqual({ id, deleted: true })
    expect(backend.users.size).toBe(0)
  })
})

describe('an organization', () => {
  it('is shown with plain names, and times in ISO 8601 and UTC', async () => {
    const { id: createdBy } = backend.instance.createUser()
    const given = {
      name: 'Shop',
      slug: 'shop',
      createdBy,
      maxAllowedMemberships: 3,
      publicMetadata: { a: 1 },
    }
    expect(await arrangement.client().createOrganization(given)).toEqual({
      id: expect.stringMatching(/^org_/),
      name: 'Shop',
      slug: 'shop',
      imageUrl: expect.stringMatching(/^https:/),
      membersCount: null,
      maxAllowedMemberships: 3,
      publicMetadata: { a: 1 },
      privateMetadata: {},
      createdBy,
      createdAt: NOW,
      updatedAt: NOW,
    })
  })

  it('may come with no more than its id, name and times', async () => {
    answerWith(wireOrganization)
    expect(await arrangement.client().createOrganization({ name: 'Shop' })).toEqual({
      id: 'org_1',
      name: 'Shop',
      slug: null,
      imageUrl: null,
      membersCount: null,
      maxAllowedMemberships: null,
      publicMetadata: {},
      privateMetadata: {},
      createdBy: null,
      createdAt: '1970-01-01T00:00:00.000Z',
      updatedAt: '1970-01-01T00:00:00.000Z',
    })
  })
})

it('an instance says what it is, and where its frontend API is', async () => {
  const { id, frontendHost } = backend.instance
  const idp = arrangement.client()
  expect(await idp.getInstance()).toEqual({ id, environmentType: 'development' })
  expect(await idp.listDomains()).toEqual([
    { name: expect.any(String), frontendApiUrl: `https://${frontendHost}` },
  ])
})

it.each(['', '.', '..', '../organizations', 'a/b', 'a?b', 'a#b', 'a%2Fb', 'user 1'])(
  'an id that could name another path (“%s”) never leaves',
  async (userId) => {
    const idp = arrangement.client()
    const expected = { code: 'invalid_arguments', sent: 'no', errors: [{ path: 'userId' }] }
    await expect(idp.getUser(userId)).rejects.toMatchObject(expected)
    await expect(idp.updateUser(userId, {})).rejects.toMatchObject(expected)
    await expect(idp.deleteUser(userId)).rejects.toMatchObject(expected)
    expect(requests).toEqual([])
  },
)
