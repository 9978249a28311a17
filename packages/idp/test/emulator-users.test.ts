import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import * as z from 'zod'
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

const create = (body: object) => call('POST', '/v1/users', { body })
const refused = (code: string, param?: string) => ({
  status: 422,
  body: { errors: [{ code, ...(param ? { meta: { param_name: param } } : {}) }] },
})

describe('POST /users', () => {
  it('answers with the whole user, times in milliseconds', async () => {
    const { status, body } = await create({
      email_address: ['Ann@Example.org', 'ann.lee@example.org'],
      first_name: 'Ann',
      last_name: 'Lee',
      public_metadata: { plan: 'pro' },
    })
    expect(status).toBe(200)
    const user = z.looseObject({ id: z.string(), primary_email_address_id: z.string() }).parse(body)
    expect(user).toMatchObject({
      object: 'user',
      id: expect.stringMatching(/^user_[A-Za-z0-9]{27}$/),
      first_name: 'Ann',
      last_name: 'Lee',
      username: null,
      external_id: null,
      email_addresses: [
        {
          id: user.primary_email_address_id,
          object: 'email_address',
          email_address: 'ann@example.org',
          reserved: false,
          verification: { status: 'verified', strategy: 'admin' },
          linked_to: [],
        },
        { email_address: 'ann.lee@example.org' },
      ],
      phone_numbers: [],
      primary_phone_number_id: null,
      password_enabled: false,
      public_metadata: { plan: 'pro' },
      private_metadata: {},
      unsafe_metadata: {},
      banned: false,
      locked: false,
      last_sign_in_at: null,
      created_at: 1_795_165_200_000,
      updated_at: 1_795_165_200_000,
      emulated: true,
    })
    expect((await call('GET', `/v1/users/${user.id}`)).body).toEqual(body)
    expect([...users.keys()]).toEqual([user.id])
  })

  it('keeps no password', async () => {
    await create({ email_address: ['ann@example.org'], password: 'correct horse' })
    const [user] = users.values()
    expect(user).toMatchObject({ password_enabled: true, password_last_updated_at: clock })
    expect(JSON.stringify(user)).not.toContain('correct horse')
  })

  it('takes null for what is not known', async () => {
    const nothing = { first_name: null, username: null, password: null, external_id: null, created_at: null }
    expect(await create({ email_address: ['ann@example.org'], ...nothing })).toMatchObject({
      status: 200,
      body: { first_name: null, username: null },
    })
  })

  it('reserves an address that shall not be verified', async () => {
    const { body } = await create({
      email_address: ['ann@example.org'],
      email_address_identification_status: ['reserved'],
    })
    expect(body).toMatchObject({ email_addresses: [{ reserved: true, verification: null }] })
  })

  it.each([
    ['form_param_unknown', 'emailAddress', { emailAddress: 'ann@example.org' }],
    ['form_param_unknown', 'role', { role: 'admin' }],
    ['form_param_type_invalid', 'email_address', { email_address: 'ann@example.org' }],
    ['form_param_type_invalid', 'first_name', { first_name: 7 }],
    ['form_param_type_invalid', 'public_metadata', { public_metadata: 'pro' }],
    ['form_param_invalid_time', 'created_at', { created_at: 'yesterday' }],
    ['form_param_format_invalid', 'email_address', { email_address: ['ann'] }],
    ['form_param_format_invalid', 'phone_number', { phone_number: ['555-0100'] }],
    [
      'form_param_format_invalid',
      'email_address_identification_status',
      { email_address: ['a@b.co', 'c@d.co'], email_address_identification_status: ['verified'] },
    ],
    ['form_username_invalid_length', 'username', { username: 'ann' }],
    ['form_username_invalid_character', 'username', { username: 'ann lee' }],
    ['form_username_needs_non_number_char', 'username', { username: '12345' }],
    ['form_password_length_too_short', 'password', { password: 'a1b2c3d' }],
    ['form_password_length_too_long', 'password', { password: 'a'.repeat(72) }],
    ['form_password_pwned', 'password', { password: 'Password123' }],
    ['form_conditional_param_missing', 'password_hasher', { password_digest: '$2a$…' }],
  ])('refuses with %s for %s', async (code, param, fields) => {
    expect(await create({ email_address: ['new@example.org'], ...fields })).toMatchObject(
      refused(code, param),
    )
    expect(users.size).toBe(0)
  })

  it('takes a password of eight characters', async () => {
    expect((await create({ email_address: ['ann@example.org'], password: 'a1b2c3d4' })).status).toBe(200)
  })

  it('takes any password where checks are skipped', async () => {
    const fields = { email_address: ['ann@example.org'], password: 'short', skip_password_checks: true }
    expect((await create(fields)).status).toBe(200)
  })

  it('names every unknown field at once', async () => {
    const { body } = await create({ one: 1, two: 2 })
    expect(body).toMatchObject({
      errors: [
        {
          message: 'is unknown',
          long_message: 'one is not a valid parameter for this request.',
          meta: { param_name: 'one' },
        },
        { meta: { param_name: 'two' } },
      ],
    })
  })

  it.each([
    ['email_address', { email_address: ['ANN@example.org'] }, 'That email address is taken.'],
    ['phone_number', { phone_number: ['+15550100200'] }, 'That phone number is taken.'],
    ['username', { username: 'ANN_LEE' }, 'That username is taken.'],
    [
      'external_id',
      { email_address: ['new@example.org'], external_id: 'crm-1' },
      'That external id is taken.',
    ],
    [
      'email_address',
      { email_address: ['bob@example.org', 'bob@example.org'] },
      'That email address is taken.',
    ],
  ])('refuses a second %s', async (param, fields, words) => {
    instance.createUser({
      email_address: ['ann@example.org'],
      phone_number: ['+15550100200'],
      username: 'ann_lee',
      external_id: 'crm-1',
    })
    const answer = await create(fields)
    expect(answer).toMatchObject(refused('form_identifier_exists', param))
    expect(answer.body).toMatchObject({ errors: [{ message: expect.stringContaining(words) }] })
  })

  it('refuses a user who has nothing to sign in with, unless that is wanted', async () => {
    expect(await create({ first_name: 'Ann' })).toMatchObject({
      status: 422,
      body: { errors: [{ code: 'form_data_missing', meta: { param_names: ['email_address'] } }] },
    })
    expect((await create({ first_name: 'Ann', skip_user_requirement: true })).status).toBe(200)
  })

  it('refuses what the settings of the instance don’t allow', async () => {
    instance.settings.passwordRequired = true
    instance.settings.disabledFields = ['username']
    const fields = { email_address: ['ann@example.org'] }
    expect(await create(fields)).toMatchObject(refused('form_data_missing'))
    expect(await create({ ...fields, username: 'ann_lee' })).toMatchObject(
      refused('form_param_unknown', 'username'),
    )
    expect((await create({ ...fields, skip_password_requirement: true })).status).toBe(200)
    instance.settings.maxUsers = 1
    expect(await create({ email_address: ['bob@example.org'], password: 'correct horse' })).toMatchObject({
      status: 403,
      body: { errors: [{ code: 'user_quota_exceeded' }] },
    })
  })

  it('refuses a body that is no JSON object', async () => {
    for (const body of ['{', '[]', 'null', '"ann"']) {
      const answer = await call('POST', '/v1/users', { body })
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ code: 'request_body_invalid' }] } })
    }
    const headers = { 'content-type': 'text/plain' }
    expect(await call('POST', '/v1/users', { body: '{}', headers })).toMatchObject({
      status: 415,
      body: { errors: [{ code: 'unsupported_content_type' }] },
    })
  })
})
