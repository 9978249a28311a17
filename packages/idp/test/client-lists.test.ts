import { describe, expect, it } from 'vitest'
import { runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests, atRequest } = fixture
const { instance } = backend

const paths = () => requests.map(({ path }) => path).toSorted()

const ids = async (users: AsyncIterable<{ id: string }>) => {
  const seen: string[] = []
  for await (const { id } of users) seen.push(id)
  return seen
}

describe('listUsers', () => {
  it('returns a page with the total count, and the cursor of the next page', async () => {
    instance.createUsers(25)
    const idp = fixture.client()
    const first = await idp.listUsers()
    expect([first.data.length, first.totalCount, first.nextCursor]).toEqual([10, 25, first.data[9]?.id])
    const second = await idp.listUsers({ startingAfter: first.nextCursor ?? '' })
    const third = await idp.listUsers({ startingAfter: second.nextCursor ?? '' })
    expect([third.data.length, third.totalCount, third.nextCursor]).toEqual([5, 25, null])
    const seen = [...first.data, ...second.data, ...third.data].map(({ id }) => id)
    expect(seen).toEqual([...backend.users.keys()].reverse())
  })

  it('counts with the same filter', async () => {
    instance.createUsers(3)
    instance.createUser({ email_address: ['bad@example.com'], banned: true })
    const idp = fixture.client()
    const bad = { emailAddress: 'bad@example.com', banned: true }
    expect(await idp.listUsers({ banned: true })).toMatchObject({ data: [bad], totalCount: 1 })
    const others = await idp.listUsers({ banned: false, limit: 2 })
    expect([others.data.length, others.totalCount]).toEqual([2, 3])
  })

  it('decides by the total count whether a full page of 500 is the last one', async () => {
    instance.createUsers(500)
    const idp = fixture.client()
    expect(await idp.listUsers({ limit: 500 })).toMatchObject({ totalCount: 500, nextCursor: null })
    instance.createUser()
    const { data, nextCursor } = await idp.listUsers({ limit: 500 })
    expect([data.length, nextCursor]).toEqual([500, data[499]?.id])
    expect((await idp.listUsers({ limit: 500, offset: 1 })).nextCursor).toBeNull()
    instance.createUser()
    expect((await idp.listUsers({ limit: 500, offset: 1 })).nextCursor).not.toBeNull()
  })

  it('counts only if the first page does not contain everything', async () => {
    instance.createUsers(3)
    const idp = fixture.client()
    expect(await idp.listUsers({ limit: 3 })).toMatchObject({ totalCount: 3 })
    expect(await idp.listUsers({ limit: 4, orderBy: 'username' })).toMatchObject({ totalCount: 3 })
    expect(paths().filter((path) => path.includes('count'))).toEqual([])
    for (const list of [{ limit: 2 }, { limit: 3, orderBy: 'username' as const }, { offset: 3 }]) {
      requests.length = 0
      expect(await idp.listUsers(list)).toMatchObject({ totalCount: 3 })
      expect(paths()).toContain('/users/count')
    }
  })

  it.each([0, 501])('leaves the refusal of the limit %i to the provider', async (limit) => {
    instance.createUsers(2)
    await expect(fixture.client().listUsers({ limit })).rejects.toMatchObject({ code: 'provider_rejected' })
  })

  it('returns a cursor only for orders by createdAt', async () => {
    instance.createUsers(3)
    const idp = fixture.client()
    expect((await idp.listUsers({ limit: 2, orderBy: 'emailAddress' })).nextCursor).toBeNull()
    for (const orderBy of ['createdAt', '-createdAt'] as const) {
      const { data, nextCursor } = await idp.listUsers({ limit: 2, orderBy })
      expect(nextCursor).toBe(data[1]?.id)
    }
  })

  it('sends the whole query, with an encoded plus sign', async () => {
    instance.createUsers(2)
    await fixture.client().listUsers({ query: 'a+b', limit: 1, offset: 1, orderBy: '-lastSignInAt' })
    expect(paths()).toEqual([
      '/users/count?query=a+b',
      '/users?query=a+b&limit=1&offset=1&order_by=-last_sign_in_at',
    ])
    expect(backend.calls.map(({ path }) => path).join()).toContain('a%2Bb')
  })
})

const listFilters = ['emailAddress', 'phoneNumber', 'userId', 'externalId', 'username'] as const

it.each(listFilters)('an empty list in %s is refused, because it would select everyone', async (name) => {
  const idp = fixture.client()
  const expected = { code: 'invalid_arguments', errors: [{ path: name }] }
  await expect(idp.countUsers({ [name]: [] })).rejects.toMatchObject(expected)
  await expect(idp.listUsers({ [name]: [] })).rejects.toMatchObject(expected)
  await expect(idp.iterateUsers({ [name]: [] }).next()).rejects.toMatchObject(expected)
  expect(requests).toEqual([])
})

it.each<[(typeof listFilters)[number], string, string]>([
  ['emailAddress', 'ada@example.com', 'grace@example.com'],
  ['phoneNumber', '+15555550100', '+15555550101'],
  ['userId', '', ''],
  ['externalId', '-7', '+7'],
  ['username', 'ada-l', 'grace'],
])('lists, iterates and counts by %s, one value or a list', async (name, first, second) => {
  instance.createUsers(2)
  const add = (email: string, phone: string, external_id: string, username: string) =>
    instance.createUser({ email_address: [email], phone_number: [phone], external_id, username }).id
  const ada = add('ada@example.com', '+15555550100', '-7', 'ada-l')
  const grace = add('grace@example.com', '+15555550101', '+7', 'grace')
  const idp = fixture.client()
  const one = { [name]: first || ada }
  const both = { [name]: [first || ada, second || grace] }
  expect(await idp.listUsers(one)).toMatchObject({ data: [{ id: ada }], totalCount: 1 })
  expect(await idp.listUsers({ ...both, limit: 1 })).toMatchObject({ data: [{ id: grace }], totalCount: 2 })
  expect(await ids(idp.iterateUsers(both))).toEqual([grace, ada])
  expect(await idp.countUsers(both)).toBe(2)
})

describe('iterateUsers', () => {
  it('makes one call for each 500 users', async () => {
    instance.createUsers(1_201)
    const seen = await ids(fixture.client().iterateUsers())
    const newestFirst = [...backend.users.keys()].reverse()
    expect(seen).toEqual(newestFirst)
    expect(requests.map(({ path }) => path)).toEqual([
      '/users?limit=500',
      `/users?limit=500&starting_after=${newestFirst[499]}`,
      `/users?limit=500&starting_after=${newestFirst[999]}`,
    ])
  })

  it('keeps the filter on every page, and ends after a full last page', async () => {
    for (const user of instance.createUsers(600).slice(0, 500)) user.banned = true
    expect(await ids(fixture.client().iterateUsers({ banned: true }))).toHaveLength(500)
    expect(requests).toHaveLength(2)
    expect(requests.every(({ path }) => path.startsWith('/users?banned=true&limit=500'))).toBe(true)
  })

  it('neither misses nor repeats a user while others are added', async () => {
    const before = instance.createUsers(700).map(({ id }) => id)
    atRequest(2, () => void instance.createUsers(5))
    expect((await ids(fixture.client().iterateUsers())).toSorted()).toEqual(before.toSorted())
  })

  it('requests a page only when its users are needed', async () => {
    instance.createUsers(501)
    for await (const _user of fixture.client().iterateUsers()) break
    expect(requests).toHaveLength(1)
  })

  it('retries a failed page, and rejects if that fails too', async () => {
    instance.createUsers(600)
    backend.faults.add({ status: 503, skip: 1 })
    expect(await ids(fixture.client().iterateUsers())).toHaveLength(600)
    backend.faults.add({ status: 500, skip: 1, times: 3 })
    await expect(ids(fixture.client().iterateUsers())).rejects.toMatchObject({ code: 'provider_error' })
  })
})

it('listOrganizations returns a page with the total count, and counts members on request', async () => {
  instance.createOrganizations(12)
  const { id: created_by } = instance.createUser()
  instance.createOrganization({ name: 'Shop', created_by })
  const idp = fixture.client()
  expect(await idp.listOrganizations({ query: 'shop' })).toMatchObject({
    data: [{ name: 'Shop', membersCount: null, createdBy: created_by }],
    totalCount: 1,
  })
  const counted = await idp.listOrganizations({ query: 'shop', includeMembersCount: true })
  expect(counted.data).toMatchObject([{ membersCount: 1 }])
  const page = await idp.listOrganizations({ limit: 2, offset: 12, orderBy: 'name' })
  expect([page.data.map(({ name }) => name), page.totalCount]).toEqual([['Shop'], 13])
})
