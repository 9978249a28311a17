import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'
import { callerOf } from './emulator-calls.ts'

let clock = Date.parse('2026-11-20T09:00:00Z')
const backend = createBackendApi({ now: () => new Date(clock) })
const { instance, users } = backend
let server: Served
const call = callerOf(() => server.url, backend)

beforeAll(async () => {
  server = await serve(backend.fetch)
})
beforeEach(() => {
  backend.reset()
  clock = Date.parse('2026-11-20T09:00:00Z')
})
afterAll(() => server.close())

const refused = (code: string, param?: string) => ({
  status: 422,
  body: { errors: [{ code, ...(param ? { meta: { param_name: param } } : {}) }] },
})

describe('PATCH /users/{id}', () => {
  it('changes what is named, and nothing else', async () => {
    const user = instance.createUser({ first_name: 'Ann', last_name: 'Lee', username: 'ann_lee' })
    clock += 1_000
    const { status, body } = await call('PATCH', `/v1/users/${user.id}`, {
      body: { first_name: 'Anna', last_name: null, username: '' },
    })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      first_name: 'Anna',
      last_name: null,
      username: null,
      created_at: clock - 1_000,
      updated_at: clock,
    })
  })

  it('makes another verified address the primary one', async () => {
    const user = instance.createUser({ email_address: ['a@example.org', 'b@example.org'] })
    const primary_email_address_id = user.email_addresses[1]?.id
    await call('PATCH', `/v1/users/${user.id}`, { body: { primary_email_address_id } })
    expect(user).toMatchObject({ primary_email_address_id })
    const strange = await call('PATCH', `/v1/users/${user.id}`, {
      body: { primary_email_address_id: 'idn_x' },
    })
    expect(strange).toMatchObject(refused('form_resource_not_found', 'primary_email_address_id'))
  })

  it('makes no address the primary one that is only reserved', async () => {
    const user = instance.createUser({
      email_address: ['a@example.org', 'b@example.org'],
      email_address_identification_status: ['verified', 'reserved'],
    })
    const body = { primary_email_address_id: user.email_addresses[1]?.id }
    expect(await call('PATCH', `/v1/users/${user.id}`, { body })).toMatchObject(
      refused('form_resource_not_found', 'primary_email_address_id'),
    )
  })

  it.each([
    ['form_param_unknown', 'public_metadata', { public_metadata: {} }],
    ['form_param_unknown', 'private_metadata', { private_metadata: {} }],
    ['form_param_unknown', 'unsafe_metadata', { unsafe_metadata: {} }],
    ['form_param_unknown', 'email_address', { email_address: ['a@b.co'] }],
    ['form_identifier_exists', 'username', { username: 'bob_ross' }],
    ['form_password_length_too_short', 'password', { password: 'short' }],
    ['form_conditional_param_missing', 'password', { skip_password_checks: true }],
  ])('refuses with %s for %s', async (code, param, body) => {
    const user = instance.createUser({ username: 'ann_lee' })
    instance.createUser({ username: 'bob_ross' })
    expect(await call('PATCH', `/v1/users/${user.id}`, { body })).toMatchObject(refused(code, param))
  })

  it('lets a user keep an own name', async () => {
    const user = instance.createUser({ username: 'ann_lee' })
    const body = { username: 'ann_lee', first_name: 'Ann' }
    expect((await call('PATCH', `/v1/users/${user.id}`, { body })).status).toBe(200)
  })
})

describe('PATCH /users/{id}/metadata', () => {
  it('merges at every depth, and removes what is null', async () => {
    const user = instance.createUser({
      public_metadata: { plan: 'pro', limits: { seats: 3, projects: 7 }, tags: ['a', 'b'], old: 1 },
      private_metadata: { note: 'kept' },
    })
    const body = {
      public_metadata: { limits: { seats: 4, projects: null }, tags: ['c'], old: null, new: {} },
    }
    const answer = await call('PATCH', `/v1/users/${user.id}/metadata`, { body })
    expect(answer).toMatchObject({ status: 200 })
    expect(user.public_metadata).toEqual({ plan: 'pro', limits: { seats: 4 }, tags: ['c'], new: {} })
    expect(user.private_metadata).toEqual({ note: 'kept' })
  })

  it('refuses everything but metadata', async () => {
    const user = instance.createUser()
    const answer = await call('PATCH', `/v1/users/${user.id}/metadata`, { body: { first_name: 'Ann' } })
    expect(answer).toMatchObject(refused('form_param_unknown', 'first_name'))
  })
})

describe('DELETE /users/{id}', () => {
  it('deletes the user, who leaves every organization', async () => {
    const user = instance.createUser()
    const organization = instance.createOrganization({ created_by: user.id })
    expect(await call('DELETE', `/v1/users/${user.id}`)).toMatchObject({
      status: 200,
      body: { object: 'user', id: user.id, deleted: true },
    })
    expect(users.size).toBe(0)
    expect(instance.members.get(organization.id)?.size).toBe(0)
  })
})

it('a user who is not there can be neither read, changed nor deleted', async () => {
  for (const [method, path, body] of [
    ['GET', '/v1/users/user_none', undefined],
    ['PATCH', '/v1/users/user_none', {}],
    ['PATCH', '/v1/users/user_none/metadata', {}],
    ['DELETE', '/v1/users/user_none', undefined],
  ] as const) {
    expect(await call(method, path, { body })).toMatchObject({
      status: 404,
      body: {
        errors: [{ code: 'resource_not_found', long_message: 'No user was found with id user_none' }],
      },
    })
  }
})
