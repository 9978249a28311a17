import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createBackendApi } from '../src/testing/index.ts'
import { callerOf } from './emulator-calls.ts'

let clock = 0
const backend = createBackendApi({ now: () => new Date(clock) })
const { instance } = backend
let server: Served
const call = callerOf(() => server.url, backend)

beforeAll(async () => {
  server = await serve(backend.fetch)
})
beforeEach(() => {
  backend.reset()
  clock = 1_000
})
afterAll(() => server.close())

const identified = z.array(z.looseObject({ id: z.string(), first_name: z.string().nullable() }))

/** The first names of the users that are found, in the order in which they are answered. */
async function names(query: string): Promise<(string | null)[]> {
  const { body } = await call('GET', `/v1/users?${query}`)
  return identified.parse(body).map(({ first_name }) => first_name)
}

const refused = (code: string, param_name: string) => ({
  status: 422,
  body: { errors: [{ code, meta: { param_name } }] },
})

describe('GET /users', () => {
  it('answers with the newest ten as a bare array', async () => {
    const made = instance.createUsers(12)
    const { status, body } = await call('GET', '/v1/users')
    expect(status).toBe(200)
    const newest = made.toReversed().slice(0, 10)
    expect(identified.parse(body).map(({ id }) => id)).toEqual(newest.map(({ id }) => id))
  })

  it('gives 1,201 users by cursor in three pages of 500, each of them once', async () => {
    const made = instance.createUsers(1_201)
    const sizes: number[] = []
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await call('GET', `/v1/users?limit=500${cursor}`)
      const page = identified.parse(body)
      sizes.push(page.length)
      seen.push(...page.map(({ id }) => id))
      if (page.length < 500) break
      cursor = `&starting_after=${page.at(-1)?.id}`
    }
    expect(sizes).toEqual([500, 500, 201])
    expect(seen).toEqual(made.toReversed().map(({ id }) => id))
  })

  it('goes on behind the cursor in the order that is asked for', async () => {
    const [first, second, third] = instance.createUsers(3)
    const { body } = await call('GET', `/v1/users?order_by=%2Bcreated_at&starting_after=${first?.id}`)
    expect(identified.parse(body).map(({ id }) => id)).toEqual([second?.id, third?.id])
  })

  it('misses nobody who was created while it is read', async () => {
    const made = instance.createUsers(4)
    const first = identified.parse((await call('GET', '/v1/users?limit=2')).body)
    instance.createUser()
    const rest = await call('GET', `/v1/users?limit=2&starting_after=${first.at(-1)?.id}`)
    expect(identified.parse(rest.body).map(({ id }) => id)).toEqual([made[1]?.id, made[0]?.id])
  })

  it('skips an offset', async () => {
    const made = instance.createUsers(5)
    const { body } = await call('GET', '/v1/users?limit=2&offset=2')
    expect(identified.parse(body).map(({ id }) => id)).toEqual([made[2]?.id, made[1]?.id])
  })

  it.each([
    ['limit=0', 'form_param_value_invalid', 'limit'],
    ['limit=501', 'form_param_value_invalid', 'limit'],
    ['limit=ten', 'form_param_value_invalid', 'limit'],
    ['offset=-1', 'form_param_value_invalid', 'offset'],
    ['order_by=password', 'form_param_value_invalid', 'order_by'],
    ['banned=maybe', 'form_param_value_invalid', 'banned'],
    ['starting_after=user_none', 'form_resource_not_found', 'starting_after'],
    [
      Array.from({ length: 101 }, (_, index) => `user_id=user_${index}`).join('&'),
      'form_param_array_size_exceeded',
      'user_id',
    ],
  ])('refuses %.40s', async (query, code, param) => {
    expect(await call('GET', `/v1/users?${query}`)).toMatchObject(refused(code, param))
  })

  it.each(['order_by=updated_at', 'order_by=-first_name', 'offset=1'])(
    'refuses a cursor with %s',
    async (query) => {
      const user = instance.createUser()
      const answer = await call('GET', `/v1/users?starting_after=${user.id}&${query}`)
      expect(answer).toMatchObject(refused('form_conditional_param_disallowed', 'starting_after'))
    },
  )

  it('minds neither a parameter that it does not know, nor a second order', async () => {
    instance.createUser({ first_name: 'Ann' })
    instance.createUser({ first_name: 'Bob' })
    expect(await names('colour=blue&order_by=first_name&order_by=-first_name')).toEqual(['Ann', 'Bob'])
  })

  it('orders by any field that is documented, those without a value last', async () => {
    clock = 3_000
    instance.createUser({ first_name: 'Bob', username: 'zorro' })
    clock = 2_000
    instance.createUser({ first_name: 'Ann', username: 'alpha' })
    clock = 1_000
    instance.createUser({ first_name: 'Cyd' })
    expect(await names('order_by=created_at')).toEqual(['Cyd', 'Ann', 'Bob'])
    expect(await names('order_by=-first_name')).toEqual(['Cyd', 'Bob', 'Ann'])
    expect(await names('order_by=+username')).toEqual(['Ann', 'Bob', 'Cyd'])
    expect(await names('order_by=-username')).toEqual(['Bob', 'Ann', 'Cyd'])
  })
})

describe('the filters of users', () => {
  beforeEach(() => {
    clock = 1_000
    const ann = instance.createUser({
      first_name: 'Ann',
      last_name: 'Lee',
      email_address: ['ann@example.org', 'second@example.org'],
      username: 'captain',
      external_id: 'crm-1',
    })
    clock = 2_000
    const bob = instance.createUser({
      first_name: 'Bob',
      email_address: ['bob@example.com'],
      phone_number: ['+15550100200'],
      banned: true,
    })
    bob.last_sign_in_at = 1_500
    instance.createOrganization({ name: 'Acme', created_by: ann.id })
  })

  const idOf = (name: string) =>
    [...instance.users.values()].find(({ first_name }) => first_name === name)?.id
  const organizationId = () => [...instance.organizations.keys()][0]

  it.each([
    ['email_address=SECOND@example.org', ['Ann']],
    ['email_address=ann@example.org&email_address=bob@example.com&email_address=x@y.z', ['Bob', 'Ann']],
    ['email_address=nobody@example.org', []],
    ['phone_number=%2B15550100200', ['Bob']],
    ['username=captain', ['Ann']],
    ['external_id=crm-1', ['Ann']],
    ['external_id=-crm-1', ['Bob']],
    ['web3_wallet=0x1', []],
    ['provider=oauth_google&provider_user_id=1', []],
    ['query=EXAMPLE.c', ['Bob']],
    ['query=ann%20l', ['Ann']],
    ['email_address_query=second', ['Ann']],
    ['phone_number_query=555', ['Bob']],
    ['username_query=capt', ['Ann']],
    ['name_query=lee', ['Ann']],
    ['name_query=captain', []],
    ['banned=true', ['Bob']],
    ['banned=false', ['Ann']],
    ['created_at_before=2000', ['Ann']],
    ['created_at_after=1000', ['Bob']],
    ['last_sign_in_at_after=1000', ['Bob']],
    ['last_sign_in_at_before=1000', []],
    ['last_active_at_since=0', []],
    ['email_address=ann@example.org&banned=true', []],
  ])('%s', async (query, found) => {
    expect(await names(query)).toEqual(found)
    const { body } = await call('GET', `/v1/users/count?${query}`)
    expect(body).toMatchObject({ object: 'total_count', total_count: found.length })
  })

  it('by id and by organization may exclude', async () => {
    expect(await names(`user_id=${idOf('Ann')}`)).toEqual(['Ann'])
    expect(await names(`user_id=-${idOf('Ann')}`)).toEqual(['Bob'])
    expect(await names(`organization_id=${organizationId()}`)).toEqual(['Ann'])
    expect(await names(`organization_id=-${organizationId()}`)).toEqual(['Bob'])
  })

  it('apply behind a cursor, too', async () => {
    expect(await names(`starting_after=${idOf('Bob')}&query=example`)).toEqual(['Ann'])
    expect(await names(`starting_after=${idOf('Bob')}&banned=true`)).toEqual([])
  })
})

describe('GET /users/count', () => {
  it('counts more than a page', async () => {
    instance.createUsers(501)
    const { status, body } = await call('GET', '/v1/users/count')
    expect({ status, body }).toMatchObject({ status: 200, body: { object: 'total_count', total_count: 501 } })
  })
})
