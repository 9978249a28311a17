/** Pages, filters and iteration. */
import { describe, expect, it } from 'vitest'
import { failureOf, runIdp } from './support.ts'

const { backend, requests, client } = runIdp()
const { instance } = backend

const newestFirst = () => [...backend.users.keys()].reverse()
async function idsOf(users: AsyncIterable<{ id: string }>) {
  const ids: string[] = []
  for await (const { id } of users) ids.push(id)
  return ids
}

describe('listUsers', () => {
  it('returns a page with the total count, and the cursor of the next page', async () => {
    instance.createUsers(20)
    const first = await client().listUsers()
    const last = await client().listUsers({ startingAfter: first.nextCursor ?? '' })
    expect([first.totalCount, first.nextCursor]).toEqual([20, first.data[9]?.id])
    expect([last.totalCount, last.nextCursor]).toEqual([20, null])
    expect([...first.data, ...last.data].map(({ id }) => id)).toEqual(newestFirst())
  })

  it('decides by the total count whether a full page of 500 is the last one', async () => {
    const cursorOf = async (offset?: number) => (await client().listUsers({ limit: 500, offset })).nextCursor
    instance.createUsers(500)
    expect(await cursorOf()).toBeNull()
    instance.createUser()
    expect([await cursorOf(), await cursorOf(1)]).toEqual([newestFirst()[499], null])
    instance.createUser()
    expect(await cursorOf(1)).not.toBeNull()
  })

  it('has a cursor after each full page of 500 behind another user, whatever the total count tells', async () => {
    instance.createUsers(501)
    backend.faults.add({ path: '/v1/users/count', status: 200, body: { total_count: 500 } })
    const [startingAfter] = newestFirst()
    const { data, nextCursor } = await client().listUsers({ limit: 500, startingAfter })
    expect([data.length, nextCursor]).toEqual([500, newestFirst()[500]])
    expect(await client().listUsers({ limit: 500, startingAfter: nextCursor ?? '' })).toMatchObject({
      data: [],
      nextCursor: null,
    })
  })

  it('has a cursor only for orders by createdAt, and leaves the refusal of a limit to the provider', async () => {
    instance.createUsers(3)
    for (const orderBy of ['createdAt', '-createdAt', 'emailAddress'] as const) {
      const { data, nextCursor } = await client().listUsers({ limit: 2, orderBy })
      expect(nextCursor).toBe(orderBy === 'emailAddress' ? null : data[1]?.id)
    }
    for (const limit of [0, 501])
      expect(await failureOf(client().listUsers({ limit }))).toMatchObject({ code: 'provider_rejected' })
  })

  it('sends the whole query, with an encoded plus sign, and counts with the same filter', async () => {
    await client().listUsers({ query: 'a+b', limit: 1, offset: 1, orderBy: '-lastSignInAt' })
    const query = '/users?query=a+b&limit=1&offset=1&order_by=-last_sign_in_at'
    expect(requests.map(({ path }) => path).toSorted()).toEqual(['/users/count?query=a+b', query])
    expect(backend.calls.map(({ path }) => path).join()).toContain('a%2Bb')
  })
})

it.each<[string, string, string]>([
  ['emailAddress', 'ada@example.com', 'grace@example.com'],
  ['phoneNumber', '+15555550100', '+15555550101'],
  ['userId', 'user_ada', 'user_grace'],
  ['externalId', '-7', '+7'],
  ['username', 'ada-l', 'grace'],
])(
  '%s filters lists, iterations and counts, with one value or several, and not none',
  async (name, ofAda, ofGrace) => {
    instance.createUsers(2)
    const add = (id: string, email: string, phone: string, external_id: string, username: string) =>
      instance.createUser({ id, email_address: [email], phone_number: [phone], external_id, username }).id
    const ada = add('user_ada', 'ada@example.com', '+15555550100', '-7', 'ada-l')
    const grace = add('user_grace', 'grace@example.com', '+15555550101', '+7', 'grace')
    const { listUsers, iterateUsers, countUsers } = client()
    const [one, both] = [{ [name]: ofAda }, { [name]: [ofAda, ofGrace] }]
    expect(await listUsers(one)).toMatchObject({ data: [{ id: ada }], totalCount: 1 })
    expect(await listUsers({ ...both, limit: 1 })).toMatchObject({ data: [{ id: grace }], totalCount: 2 })
    expect(await idsOf(iterateUsers(both))).toEqual([grace, ada])
    requests.length = 0
    for (const none of [{ [name]: [] }, { [name]: '' }])
      for (const call of [countUsers(none), listUsers(none), iterateUsers(none).next()])
        expect(await failureOf(call)).toMatchObject({ code: 'invalid_arguments', errors: [{ path: name }] })
    // Such a request would select everyone.
    expect(requests).toEqual([])
  },
)

describe('iterateUsers', () => {
  it('makes one call for each 500 users, when they are needed, and none once its caller left', async () => {
    const cause = new Error('the user went away')
    const left = client().iterateUsers({}, { signal: AbortSignal.abort(cause) })
    expect(await failureOf(left.next())).toMatchObject({ code: 'aborted', effect: 'none', cause })
    instance.createUsers(1_201)
    const users = client().iterateUsers()
    await users.next()
    expect(requests).toHaveLength(1)
    const [, ...all] = newestFirst()
    expect(await idsOf(users)).toEqual(all)
    const after = [all[498], all[998]].map((id) => `/users?limit=500&starting_after=${id}`)
    expect(requests.map(({ path }) => path)).toEqual(['/users?limit=500', ...after])
  })

  it('keeps the filter on every page, and ends after a full last page', async () => {
    for (const user of instance.createUsers(600).slice(0, 500)) user.banned = true
    expect(await idsOf(client().iterateUsers({ banned: true }))).toHaveLength(500)
    expect(requests).toHaveLength(2)
    expect(requests.every(({ path }) => path.startsWith('/users?banned=true&limit=500'))).toBe(true)
  })
})
