import { describe, expect, it } from 'vitest'
import { runIdp } from './support.ts'

const arrangement = runIdp()
const { backend, requests, atRequest } = arrangement
const { instance } = backend

const paths = () => requests.map(({ path }) => path).toSorted()

describe('a page of users', () => {
  it('comes with the number of all, and the cursor of the next page', async () => {
    instance.createUsers(25)
    const idp = arrangement.client()
    const first = await idp.listUsers()
    expect([first.data.length, first.totalCount, first.nextCursor]).toEqual([10, 25, first.data[9]?.id])
    const second = await idp.listUsers({ startingAfter: first.nextCursor ?? '' })
    const third = await idp.listUsers({ startingAfter: second.nextCursor ?? '' })
    expect([third.data.length, third.totalCount, third.nextCursor]).toEqual([5, 25, null])
    const seen = [...first.data, ...second.data, ...third.data].map(({ id }) => id)
    expect(seen).toEqual([...backend.users.keys()].reverse())
  })

  it('is counted by the same filter', async () => {
    instance.createUsers(3)
    instance.createUser({ email_address: ['bad@example.com'], banned: true })
    const idp = arrangement.client()
    expect(await idp.listUsers({ banned: true })).toMatchObject({
      data: [{ emailAddress: 'bad@example.com', banned: true }],
      totalCount: 1,
    })
    requests.length = 0
    const others = await idp.listUsers({ banned: false, limit: 2 })
    expect([others.data.length, others.totalCount]).toEqual([2, 3])
    expect(paths()).toEqual(['/users/count?banned=false', '/users?banned=false&limit=2'])
  })

  it('can be chosen by one address, by several, and by a text', async () => {
    instance.createUsers(4)
    const idp = arrangement.client()
    const addresses = async (filter: Parameters<typeof idp.listUsers>[0]) =>
      (await idp.listUsers(filter)).data.map(({ emailAddress }) => emailAddress).toSorted()
    expect(await addresses({ emailAddress: 'user-1@example.com' })).toEqual(['user-1@example.com'])
    expect(await addresses({ emailAddress: ['user-1@example.com', 'user-3@example.com'] })).toEqual([
      'user-1@example.com',
      'user-3@example.com',
    ])
    expect(await addresses({ query: 'USER-4' })).toEqual(['user-4@example.com'])
  })

  it('has no cursor in an order that has none', async () => {
    instance.createUsers(3)
    const idp = arrangement.client()
    expect((await idp.listUsers({ limit: 2, orderBy: 'email_address' })).nextCursor).toBeNull()
    for (const orderBy of ['created_at', '+created_at', '-created_at']) {
      const { data, nextCursor } = await idp.listUsers({ limit: 2, orderBy })
      expect(nextCursor).toBe(data[1]?.id)
    }
  })

  it('asks for what it was asked', async () => {
    instance.createUsers(2)
    await arrangement.client().listUsers({ query: 'a', limit: 1, offset: 1, orderBy: '+last_sign_in_at' })
    expect(paths()).toEqual([
      '/users/count?query=a',
      '/users?query=a&limit=1&offset=1&order_by=+last_sign_in_at',
    ])
    // Not the plus sign of a form, which is a space.
    expect(backend.calls.map(({ path }) => path).join()).toContain('%2Blast_sign_in_at')
  })
})

describe('an empty list of addresses', () => {
  it('is refused, for on the wire it would mean everyone', async () => {
    const idp = arrangement.client()
    const expected = { code: 'invalid_arguments', errors: [{ path: 'emailAddress' }] }
    await expect(idp.countUsers({ emailAddress: [] })).rejects.toMatchObject(expected)
    await expect(idp.listUsers({ emailAddress: [] })).rejects.toMatchObject(expected)
    await expect(idp.iterateUsers({ emailAddress: [] }).next()).rejects.toMatchObject(expected)
    expect(requests).toEqual([])
  })
})

describe('iterating over users', () => {
  const ids = async (users: AsyncIterable<{ id: string }>) => {
    const seen: string[] = []
    for await (const { id } of users) seen.push(id)
    return seen
  }

  it('takes one call for each 500', async () => {
    instance.createUsers(1_201)
    const seen = await ids(arrangement.client().iterateUsers())
    const newestFirst = [...backend.users.keys()].reverse()
    expect(seen).toEqual(newestFirst)
    expect(requests.map(({ path }) => path)).toEqual([
      '/users?limit=500',
      `/users?limit=500&starting_after=${newestFirst[499]}`,
      `/users?limit=500&starting_after=${newestFirst[999]}`,
    ])
  })

  it('keeps the filter on every page, and ends after a last page that was full', async () => {
    for (const user of instance.createUsers(600).slice(0, 500)) user.banned = true
    expect(await ids(arrangement.client().iterateUsers({ banned: true }))).toHaveLength(500)
    expect(requests).toHaveLength(2)
    expect(requests.every(({ path }) => path.startsWith('/users?banned=true&limit=500'))).toBe(true)
  })

  it('misses nobody and shows nobody twice while users are added', async () => {
    const before = instance.createUsers(700).map(({ id }) => id)
    atRequest(2, () => void instance.createUsers(5))
    expect((await ids(arrangement.client().iterateUsers())).toSorted()).toEqual(before.toSorted())
  })

  it('asks for no page that nobody wants', async () => {
    instance.createUsers(501)
    for await (const _user of arrangement.client().iterateUsers()) break
    expect(requests).toHaveLength(1)
  })

  it('reads pages full of metadata', async () => {
    const text = 'x'.repeat(8_000)
    for (const user of instance.createUsers(500)) {
      user.public_metadata = { text }
      user.private_metadata = { text }
      user.unsafe_metadata = { text }
    }
    expect(await ids(arrangement.client().iterateUsers())).toHaveLength(500)
  })

  it('repeats a page that failed, and ends where it fails for good', async () => {
    instance.createUsers(600)
    backend.faults.add({ status: 503, skip: 1 })
    expect(await ids(arrangement.client().iterateUsers())).toHaveLength(600)
    backend.faults.add({ status: 500, skip: 1, times: 3 })
    await expect(ids(arrangement.client().iterateUsers())).rejects.toMatchObject({ code: 'provider_error' })
  })
})

describe('a list of organizations', () => {
  it('comes with the number of all, and with members where they were asked for', async () => {
    instance.createOrganizations(12)
    const { id: created_by } = instance.createUser()
    instance.createOrganization({ name: 'Shop', created_by })
    const idp = arrangement.client()
    expect(await idp.listOrganizations({ query: 'shop' })).toMatchObject({
      data: [{ name: 'Shop', membersCount: null, createdBy: created_by }],
      totalCount: 1,
    })
    const counted = await idp.listOrganizations({ query: 'shop', includeMembersCount: true })
    expect(counted.data).toMatchObject([{ membersCount: 1 }])
    const page = await idp.listOrganizations({ limit: 2, offset: 12, orderBy: 'name' })
    expect([page.data.map(({ name }) => name), page.totalCount]).toEqual([['Shop'], 13])
  })
})
