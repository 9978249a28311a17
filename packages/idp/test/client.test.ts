/** What the client sends, and what it makes of responses and failures. */
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { asFault, parameterReason, Refusal, rateLimited } from '../src/testing/index.ts'
import { failureOf, NOW, runIdp } from './support.ts'

const { backend, requests, client, atRequest } = runIdp()

const respondWith = (body: object) => backend.faults.add({ status: 200, body })

it('an update sends null and blank texts, leaves out undefined, and only reads if nothing changes', async () => {
  for (const changes of [
    { firstName: '', username: null },
    { publicMetadata: { plan: null }, firstName: undefined },
    {},
  ]) {
    respondWith({ id: 'user_1', created_at: 1, updated_at: 1 })
    await client().updateUser('user_1', changes)
  }
  expect(requests.map(({ method, path, text }) => `${method} ${path} ${text}`)).toEqual([
    'PATCH /users/user_1 {"first_name":"","username":null}',
    'PATCH /users/user_1/metadata {"public_metadata":{"plan":null}}',
    'GET /users/user_1 ',
  ])
})

describe('a user', () => {
  it('has camelCase names, times in ISO 8601 and UTC, and null for absent values', async () => {
    const kept = {
      ...{ firstName: 'Ada', lastName: 'Lovelace', username: 'ada-l', externalId: 'c-1', createdAt: NOW },
      ...{ publicMetadata: { plan: 'pro' }, privateMetadata: { note: 'x' }, unsafeMetadata: { dark: true } },
    }
    const emailAddresses = ['ada@example.com', 'countess@example.com']
    const phoneNumber = '+15555550100'
    // The emulator refuses a name that the provider does not know.
    const created = await client().createUser({
      ...{ ...kept, emailAddress: emailAddresses, phoneNumber, password: 'a long pass phrase' },
      ...{ skipPasswordRequirement: false, skipPasswordChecks: true, skipLegalChecks: true },
    })
    expect(created).toEqual({
      ...{ ...kept, lastSignInAt: null, lastActiveAt: null, updatedAt: NOW, banned: false, locked: false },
      ...{ emailAddresses, emailAddress: emailAddresses[0], verifiedEmailAddresses: emailAddresses },
      ...{ phoneNumber, phoneNumbers: [phoneNumber], id: expect.stringMatching(/^user_/) },
      imageUrl: expect.stringMatching(/^https:/),
    })
    expect(await client().getUser(created.id)).toEqual(created)
  })

  it('has its primary address, and tells which ones are verified', async () => {
    const user = backend.instance.createUser({ email_address: ['a@example.com', 'b@example.com'] })
    const [first, second] = user.email_addresses
    user.primary_email_address_id = second?.id ?? null
    Object.assign(first ?? {}, { verification: { status: 'unverified' } })
    const verified = { emailAddress: 'b@example.com', verifiedEmailAddresses: ['b@example.com'] }
    expect(await client().getUser(user.id)).toMatchObject(verified)
    Object.assign(first ?? {}, { verification: 'verified' })
    Object.assign(second ?? {}, { verification: null, id: null })
    user.primary_email_address_id = null
    expect(await client().getUser(user.id)).toMatchObject({ emailAddress: null, verifiedEmailAddresses: [] })
  })

  const least = { id: 'user_1', created_at: 1, updated_at: 2.5 }
  const all = (value: unknown, ...names: string[]) => Object.fromEntries(names.map((name) => [name, value]))
  const texts = ['username', 'first_name', 'last_name', 'external_id', 'image_url']
  const others = ['banned', 'public_metadata', 'last_sign_in_at', 'email_addresses']

  it.each([
    ['missing, and others unknown', { passkeys: [{}], new_field: { a: [1] } }],
    ['null', all(null, ...texts, ...others, 'primary_email_address_id')],
    ['blank', all('', ...texts)],
  ])('and an organization are complete if fields of the response are %s', async (_what, fields) => {
    respondWith({ ...least, ...fields })
    expect(await client().getUser('user_1')).toEqual({
      id: 'user_1',
      ...all(null, 'emailAddress', 'phoneNumber', 'firstName', 'lastName', 'username', 'externalId'),
      ...all(null, 'imageUrl', 'lastSignInAt', 'lastActiveAt'),
      ...all([], 'emailAddresses', 'verifiedEmailAddresses', 'phoneNumbers'),
      ...all({}, 'publicMetadata', 'privateMetadata', 'unsafeMetadata'),
      ...all(false, 'banned', 'locked'),
      ...{ createdAt: '1970-01-01T00:00:00.001Z', updatedAt: '1970-01-01T00:00:00.002Z' },
    })
    const organization = { id: 'org_1', name: 'Shop', created_at: 0, updated_at: 0 }
    respondWith({ ...organization, ...fields, ...all(null, 'slug', 'members_count', 'created_by') })
    expect(await client().createOrganization({ name: 'Shop' })).toMatchObject({
      ...all(null, 'slug', 'imageUrl', 'membersCount', 'maxAllowedMemberships', 'createdBy'),
      ...all({}, 'publicMetadata', 'privateMetadata'),
    })
  })

  it('is an invalid response if the time of its creation is no Unix time of this millennium', async () => {
    for (const created_at of [1e20, -1, '2026-11-20']) {
      respondWith({ ...least, created_at })
      expect(await failureOf(client().getUser('user_1'))).toMatchObject({ code: 'provider_error' })
    }
  })

  it('is not asked for by an id that could name another path', async () => {
    const { getUser, updateUser, deleteUser } = client()
    const expected = { code: 'invalid_arguments', effect: 'none', errors: [{ path: 'userId' }] }
    for (const userId of ['', '..', 'a/b', 'a%2Fb', 'user 1'])
      for (const call of [getUser(userId), updateUser(userId, {}), deleteUser(userId)])
        expect(await failureOf(call)).toMatchObject(expected)
    expect(requests).toEqual([])
  })
})

describe('an update of fields and metadata', () => {
  const both = { firstName: 'Augusta', publicMetadata: { plan: null, limits: { seats: 5 }, beta: true } }
  const before = { first_name: 'Ada', public_metadata: { plan: 'free', limits: { seats: 1, projects: 2 } } }
  const someone = () => backend.instance.createUser(structuredClone(before)).id
  const metadataPath = /\/metadata$/

  it('changes the fields first, and then merges the metadata', async () => {
    const id = someone()
    const updated = await client().updateUser(id, both)
    expect(updated).toMatchObject({ firstName: 'Augusta', unsafeMetadata: {} })
    expect(updated.publicMetadata).toEqual({ limits: { seats: 5, projects: 2 }, beta: true })
    expect(requests.map(({ path }) => path)).toEqual([`/users/${id}`, `/users/${id}/metadata`])
  })

  it('stops if the fields are refused', async () => {
    const id = someone()
    backend.instance.createUser({ username: 'taken' })
    const error = await failureOf(client().updateUser(id, { ...both, username: 'taken' }))
    expect(error).toMatchObject({ code: 'provider_rejected', effect: 'none' })
    expect(error.message).not.toContain('were changed')
    expect(backend.users.get(id)).toMatchObject(before)
  })

  const tooLarge = new Refusal(422, parameterReason('form_param_invalid', 'public_metadata', 'too large'))
  const errors = [{ path: 'publicMetadata', message: 'too large' }]
  const limited = { code: 'provider_rate_limited', retryable: true, effect: 'none', retryAfter: 600 }
  it.each([
    ['refused', asFault(tooLarge), { code: 'provider_rejected', effect: 'none', errors }],
    ['rate-limited', rateLimited(600), limited],
    ['of unknown outcome', { status: 500 }, { code: 'outcome_unknown', effect: 'unknown' }],
  ])('says that the fields were changed if the metadata is %s', async (_what, fault, expected) => {
    const id = someone()
    backend.faults.add({ path: metadataPath, ...fault })
    const error = await failureOf(client().updateUser(id, both))
    expect(error).toMatchObject({ ...expected, provider: { name: 'idp', status: fault.status } })
    const words = /^The user’s fields were changed\. The update of the metadata failed: (The|It is) /
    expect(error.message).toMatch(words)
    expect(backend.users.get(id)).toMatchObject({ ...before, first_name: 'Augusta' })
    expect(requests).toHaveLength(2)
  })

  it('has an unknown outcome if its caller aborts it between the two calls', async () => {
    const controller = new AbortController()
    backend.faults.add({ path: metadataPath, ...rateLimited(1) })
    const idp = client({ wait: async () => controller.abort(new Error('gone')) })
    const error = await failureOf(idp.updateUser(someone(), both, { signal: controller.signal }))
    const message = expect.stringContaining('fields were changed')
    expect(error).toMatchObject({ code: 'outcome_unknown', message })
  })

  it('has one time limit for both calls', async () => {
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    atRequest(1, () => void clock.mockReturnValue(Date.now() + 20_000))
    const error = await failureOf(client({ timeoutMs: 10_000 }).updateUser(someone(), both))
    clock.mockRestore()
    expect(error).toMatchObject({ code: 'provider_timeout', effect: 'none' })
    expect(requests).toHaveLength(1)
  })
})

describe('a failure', () => {
  async function expectFailure(call: Promise<unknown>, expected: object) {
    const error = await failureOf(call)
    expect(error).toMatchObject(expected)
    expect(inspect(error, { depth: null })).not.toMatch(/@example|sk_test_/)
    return error
  }
  const create = () => client().createUser({ emailAddress: 'ada@example.com' })

  it('has advice for an id or a key that is unknown, for a missing key, and for a wrong base URL', async () => {
    const message = 'No user was found with id user_nobody'
    await expectFailure(client().getUser('user_nobody'), {
      ...{ code: 'provider_rejected', retryable: false, effect: 'none', hint: 'Check the id.' },
      message: expect.stringContaining(message),
      provider: { name: 'idp', status: 404, code: 'resource_not_found', message },
    })
    backend.faults.add({ html: true, status: 403 })
    const ofGateway = { code: 'provider_error', effect: 'none', message: expect.stringContaining('base URL') }
    await expectFailure(create(), ofGateway)
    backend.removeInstance(backend.instance.id)
    const hint = expect.stringContaining('secret key')
    await expectFailure(create(), { code: 'credentials_rejected', hint })
    requests.length = 0
    const missing = 'The secret key is missing, or contains an invalid character.'
    for (const secretKey of ['', 'sk_test_one\nsk_test_two'])
      await expectFailure(client({ secretKey }).getInstance(), {
        ...{ code: 'missing_credentials', retryable: false, effect: 'none', message: missing },
      })
    expect(requests).toEqual([])
  })

  it('leaves out errors and a trace id in an unknown format', async () => {
    const first = { code: 'first', message: 'Short.', long_message: '' }
    const errors = [first, { nonsense: true }, 7, { code: 'x' }]
    backend.faults.add({ status: 400, body: { errors, clerk_trace_id: 'ada@example.com' } })
    const told = ['Short.', 'x'].map((message) => ({ path: '', message }))
    const { provider } = await expectFailure(create(), { errors: told })
    expect(provider).toEqual({ name: 'idp', status: 400, code: 'first', message: 'Short.' })
  })
})
