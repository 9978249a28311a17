import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBackendApi } from '../src/testing/index.ts'
import { callerOf } from './emulator-calls.ts'

let clock = 0
const backend = createBackendApi({ now: () => new Date(clock) })
const { instance, organizations } = backend
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

const create = (body: object) => call('POST', '/v1/organizations', { body })
const list = async (query = '') => (await call('GET', `/v1/organizations?${query}`)).body
const named = (...names: string[]) => ({ data: names.map((name) => ({ name })) })

describe('POST /organizations', () => {
  it('needs a name alone', async () => {
    const { status, body } = await create({ name: 'Acme & Sons' })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'organization',
      id: expect.stringMatching(/^org_[A-Za-z0-9]{27}$/),
      name: 'Acme & Sons',
      slug: expect.stringMatching(/^acme-sons-\d+$/),
      has_image: false,
      max_allowed_memberships: 5,
      admin_delete_enabled: true,
      public_metadata: {},
      private_metadata: {},
      created_at: 1_000,
      updated_at: 1_000,
      emulated: true,
    })
    expect(body).not.toHaveProperty('created_by')
    expect(body).not.toHaveProperty('members_count')
  })

  it('keeps what it is given, and makes its creator a member', async () => {
    const user = instance.createUser()
    const fields = {
      name: 'Acme',
      slug: 'acme',
      created_by: user.id,
      max_allowed_memberships: 0,
      public_metadata: { plan: 'pro' },
      private_metadata: { crm: 7 },
    }
    expect((await create(fields)).body).toMatchObject(fields)
    expect(await list('include_members_count=true')).toMatchObject({ data: [{ members_count: 1 }] })
  })

  it('never gives two organizations the same slug', async () => {
    await create({ name: 'Acme' })
    await create({ name: 'Other', slug: 'acme-3' })
    await create({ name: 'Acme' })
    const slugs = [...organizations.values()].map(({ slug }) => slug)
    expect(new Set(slugs).size).toBe(3)
  })

  it.each([
    ['form_param_missing', 'name', {}],
    ['form_param_nil', 'name', { name: ' ' }],
    ['form_param_type_invalid', 'name', { name: null }],
    ['form_param_max_length_exceeded', 'name', { name: 'x'.repeat(257) }],
    ['form_param_value_invalid', 'name', { name: 'See https://example.org' }],
    ['form_param_value_invalid', 'name', { name: '<b>Acme</b>' }],
    ['form_param_format_invalid', 'slug', { name: 'Acme', slug: 'Acme' }],
    ['form_param_format_invalid', 'slug', { name: 'Acme', slug: 'acme_1' }],
    ['form_identifier_exists', 'slug', { name: 'Acme', slug: 'taken' }],
    ['form_param_unknown', 'createdBy', { name: 'Acme', createdBy: 'user_1' }],
    ['form_param_type_invalid', 'max_allowed_memberships', { name: 'Acme', max_allowed_memberships: '5' }],
    ['form_param_value_invalid', 'max_allowed_memberships', { name: 'Acme', max_allowed_memberships: -1 }],
  ])('refuses with %s for %s', async (code, param_name, fields) => {
    instance.createOrganization({ slug: 'taken' })
    expect(await create(fields)).toMatchObject({
      status: 422,
      body: { errors: [{ code, meta: { param_name } }] },
    })
    expect(organizations.size).toBe(1)
  })

  it('refuses a creator who is not there', async () => {
    expect(await create({ name: 'Acme', created_by: 'user_none' })).toMatchObject({
      status: 400,
      body: {
        errors: [
          { code: 'organization_creator_not_found', long_message: 'No users found with id user_none.' },
        ],
      },
    })
  })
})

describe('GET /organizations', () => {
  it('answers with the newest ten, and how many there are', async () => {
    instance.createOrganizations(12)
    const { status, body } = await call('GET', '/v1/organizations')
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...named(...Array.from({ length: 10 }, (_, index) => `Organization ${12 - index}`)),
      total_count: 12,
    })
    expect(await list('limit=5&offset=10')).toMatchObject(named('Organization 2', 'Organization 1'))
  })

  it('counts the members only where that is asked for', async () => {
    instance.createOrganization()
    expect(await list()).not.toHaveProperty('data.0.members_count')
    expect(await list('include_members_count=true')).toHaveProperty('data.0.members_count', 0)
  })

  it('finds by a part of the name or slug, by the whole id, and by a member', async () => {
    const user = instance.createUser()
    const acme = instance.createOrganization({ name: 'Acme', slug: 'roadrunner', created_by: user.id })
    instance.createOrganization({ name: 'Globex', slug: 'springfield' })
    expect(await list('query=CME')).toMatchObject({ ...named('Acme'), total_count: 1 })
    expect(await list('query=field')).toMatchObject(named('Globex'))
    expect(await list(`query=${acme.id}`)).toMatchObject(named('Acme'))
    expect(await list(`query=${acme.id.slice(0, -1)}`)).toMatchObject({ total_count: 0 })
    expect(await list(`user_id=${user.id}`)).toMatchObject(named('Acme'))
    expect(await list(`organization_id=-${acme.id}`)).toMatchObject({ ...named('Globex'), total_count: 1 })
  })

  it('orders by name, time or members', async () => {
    const user = instance.createUser()
    instance.createOrganization({ name: 'Beta', created_by: user.id })
    clock = 2_000
    instance.createOrganization({ name: 'Alpha' })
    expect(await list('order_by=name')).toMatchObject(named('Alpha', 'Beta'))
    expect(await list('order_by=%2Bcreated_at')).toMatchObject(named('Beta', 'Alpha'))
    expect(await list('order_by=-members_count')).toMatchObject(named('Beta', 'Alpha'))
  })

  it.each(['limit=501', 'order_by=slug', 'include_members_count=yes'])('refuses %s', async (query) => {
    expect((await call('GET', `/v1/organizations?${query}`)).status).toBe(422)
  })

  it('is refused with 403, like a create, where organizations are not enabled', async () => {
    instance.settings.organizationsEnabled = false
    const refusal = { status: 403, body: { errors: [{ code: 'organization_not_enabled_in_instance' }] } }
    expect(await call('GET', '/v1/organizations')).toMatchObject(refusal)
    expect(await create({ name: 'Acme' })).toMatchObject(refusal)
  })
})
