import { describe, expect, it } from 'vitest'
import { NOW, runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests, respondWith } = fixture

describe('a user', () => {
  it('has camelCase names, times in ISO 8601 and UTC, and null for absent values', async () => {
    const idp = fixture.client()
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
      verifiedEmailAddresses: ['ada@example.com', 'countess@example.com'],
      phoneNumber: '+15555550100',
      phoneNumbers: ['+15555550100', '+15555550101'],
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
      lastActiveAt: null,
      createdAt: NOW,
      updatedAt: NOW,
    })
    expect(await idp.getUser(created.id)).toEqual(created)
  })

  it('has its primary address in emailAddress, wherever it is in the list', async () => {
    const user = backend.instance.createUser({ email_address: ['a@example.com', 'b@example.com'] })
    user.primary_email_address_id = user.email_addresses[1]?.id ?? null
    user.last_sign_in_at = Date.parse('2026-11-19T23:59:59.999Z')
    expect(await fixture.client().getUser(user.id)).toMatchObject({
      emailAddress: 'b@example.com',
      lastSignInAt: '2026-11-19T23:59:59.999Z',
    })
  })

  it('tells which of its addresses are verified', async () => {
    const { id } = backend.instance.createUser({ email_address: ['a@example.com', 'b@example.com'] })
    const [first, second] = backend.users.get(id)?.email_addresses ?? []
    Object.assign(first ?? {}, { verification: { status: 'unverified' } })
    expect(await fixture.client().getUser(id)).toMatchObject({ verifiedEmailAddresses: ['b@example.com'] })
    Object.assign(second ?? {}, { verification: null })
    expect(await fixture.client().getUser(id)).toMatchObject({ verifiedEmailAddresses: [] })
  })

  const least = { id: 'user_1', created_at: 1, updated_at: 2.5 }
  const names = ['username', 'first_name', 'last_name', 'external_id', 'image_url']
  const others = [
    'banned',
    'locked',
    'public_metadata',
    'last_sign_in_at',
    'last_active_at',
    'email_addresses',
    'phone_numbers',
  ]
  const all = (value: unknown, fields: string[]) => Object.fromEntries(fields.map((name) => [name, value]))

  it.each([
    ['missing', least],
    ['null', { ...least, ...all(null, [...names, ...others, 'primary_email_address_id']) }],
    ['blank', { ...least, ...all('', names) }],
    ['unknown', { ...least, passkeys: [{}], new_field: { a: [1] } }],
  ])('is complete if fields of the response are %s', async (_what, body) => {
    respondWith(body)
    expect(await fixture.client().getUser('user_1')).toEqual({
      id: 'user_1',
      ...all(null, ['emailAddress', 'phoneNumber', 'username', 'firstName', 'lastName', 'externalId']),
      ...all(null, ['imageUrl', 'lastSignInAt', 'lastActiveAt']),
      ...all([], ['emailAddresses', 'verifiedEmailAddresses', 'phoneNumbers']),
      ...all(false, ['banned', 'locked']),
      ...all({}, ['publicMetadata', 'privateMetadata', 'unsafeMetadata']),
      createdAt: '1970-01-01T00:00:00.001Z',
      updatedAt: '1970-01-01T00:00:00.002Z',
    })
  })

  it('has no primary address if the response names none, even for an address without an id', async () => {
    respondWith({ ...least, email_addresses: [{ email_address: 'a@example.com' }] })
    expect(await fixture.client().getUser('user_1')).toMatchObject({
      emailAddress: null,
      emailAddresses: ['a@example.com'],
    })
  })

  it.each([1e20, -1, Number.MAX_SAFE_INTEGER, '2026-11-20', null])(
    'is an invalid response if it was created at %j',
    async (created_at) => {
      respondWith({ ...least, created_at })
      await expect(fixture.client().getUser('user_1')).rejects.toMatchObject({ code: 'provider_error' })
    },
  )
})

describe('an organization', () => {
  it('has camelCase names, and times in ISO 8601 and UTC', async () => {
    const { id: createdBy } = backend.instance.createUser()
    const given = {
      name: 'Shop',
      slug: 'shop',
      createdBy,
      maxAllowedMemberships: 3,
      publicMetadata: { a: 1 },
    }
    expect(await fixture.client().createOrganization(given)).toEqual({
      ...given,
      id: expect.stringMatching(/^org_/),
      imageUrl: expect.stringMatching(/^https:/),
      membersCount: null,
      privateMetadata: {},
      createdAt: NOW,
      updatedAt: NOW,
    })
  })

  it('is complete if the response has only its id, name and times', async () => {
    respondWith({ id: 'org_1', name: 'Shop', created_at: 0, updated_at: 0 })
    expect(await fixture.client().createOrganization({ name: 'Shop' })).toMatchObject({
      slug: null,
      imageUrl: null,
      membersCount: null,
      maxAllowedMemberships: null,
      publicMetadata: {},
      privateMetadata: {},
      createdBy: null,
    })
  })
})

it('getInstance and listDomains describe the instance of the key', async () => {
  const { id, frontendHost } = backend.instance
  const idp = fixture.client()
  expect(await idp.getInstance()).toEqual({ id, environmentType: 'development' })
  expect(await idp.listDomains()).toEqual([
    { name: expect.any(String), frontendApiUrl: `https://${frontendHost}` },
  ])
})

it.each(['', '.', '..', '../organizations', 'a/b', 'a?b', 'a#b', 'a%2Fb', 'user 1'])(
  'the client refuses an id that could name another path, and sends nothing: “%s”',
  async (userId) => {
    const idp = fixture.client()
    const expected = { code: 'invalid_arguments', effect: 'none', errors: [{ path: 'userId' }] }
    await expect(idp.getUser(userId)).rejects.toMatchObject(expected)
    await expect(idp.updateUser(userId, {})).rejects.toMatchObject(expected)
    await expect(idp.deleteUser(userId)).rejects.toMatchObject(expected)
    expect(requests).toEqual([])
  },
)
