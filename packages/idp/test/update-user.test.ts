import { describe, expect, it, vi } from 'vitest'
import { asFault, parameterReason, Refusal, rateLimited } from '../src/testing/index.ts'
import { failureOf, runIdp } from './support.ts'

const fixture = runIdp()
const { backend, requests } = fixture

const someone = () => {
  const metadata = { plan: 'free', limits: { seats: 1, projects: 2 } }
  return backend.instance.createUser({ first_name: 'Ada', public_metadata: metadata })
}
const metadataPath = /\/metadata$/

describe('metadata', () => {
  it('is merged at every depth, and null removes a key', async () => {
    const { id } = someone()
    const idp = fixture.client()
    const updated = await idp.updateUser(id, {
      publicMetadata: { plan: null, limits: { seats: 5 }, beta: true },
      privateMetadata: { note: 'x' },
    })
    expect(updated).toMatchObject({ privateMetadata: { note: 'x' }, unsafeMetadata: {} })
    expect(updated.publicMetadata).toEqual({ limits: { seats: 5, projects: 2 }, beta: true })
  })

  it('goes to its own endpoint, after the other fields', async () => {
    const { id } = someone()
    const updated = await fixture
      .client()
      .updateUser(id, { lastName: 'Lovelace', unsafeMetadata: { theme: 'dark' } })
    expect(requests.map(({ method, path, text }) => [method, path, JSON.parse(text)])).toEqual([
      ['PATCH', `/users/${id}`, { last_name: 'Lovelace' }],
      ['PATCH', `/users/${id}/metadata`, { unsafe_metadata: { theme: 'dark' } }],
    ])
    expect(updated).toMatchObject({ lastName: 'Lovelace', unsafeMetadata: { theme: 'dark' } })
  })
})

it('null clears a field', async () => {
  const names = { first_name: 'Ada', last_name: 'Lovelace', username: 'ada-l', external_id: 'c-1' }
  const { id } = backend.instance.createUser({ email_address: ['ada@example.com'], ...names })
  const cleared = { firstName: null, lastName: null, username: null, externalId: null }
  expect(await fixture.client().updateUser(id, cleared)).toMatchObject(cleared)
})

describe('a user of another system', () => {
  const digest = { passwordDigest: '$2a$10$abc', passwordHasher: 'bcrypt' } as const
  const moved = { ...digest, createdAt: '2019-05-01T12:00:00Z', skipLegalChecks: true }

  it('is created with the digest of its password, and the day it signed up', async () => {
    const created = await fixture.client().createUser({ emailAddress: 'ada@example.com', ...moved })
    expect(created.createdAt).toBe('2019-05-01T12:00:00.000Z')
    expect(JSON.parse(requests[0]?.text ?? '')).toMatchObject({
      password_digest: '$2a$10$abc',
      password_hasher: 'bcrypt',
      skip_legal_checks: true,
    })
    expect(backend.users.get(created.id)).toMatchObject({ password_enabled: true })
  })

  it('needs the algorithm beside the digest', async () => {
    const { passwordDigest } = digest
    const error = await failureOf(
      fixture.client().createUser({ emailAddress: 'ada@example.com', passwordDigest }),
    )
    expect(error).toMatchObject({ code: 'provider_rejected', errors: [{ path: 'passwordHasher' }] })
  })
})

describe('an update of fields and metadata', () => {
  const both = { firstName: 'Augusta', publicMetadata: { plan: 'pro' } }

  it('stops if the fields are refused', async () => {
    const { id, public_metadata } = someone()
    const other = backend.instance.createUser({ username: 'taken' })
    const error = await failureOf(
      fixture.client().updateUser(id, { ...both, username: other.username ?? '' }),
    )
    expect(error).toMatchObject({ code: 'provider_rejected', effect: 'none' })
    expect(error.message).not.toContain('were changed')
    expect(requests).toHaveLength(1)
    expect(backend.users.get(id)).toMatchObject({ first_name: 'Ada', public_metadata })
  })

  it.each([
    [
      'refused',
      asFault(new Refusal(422, parameterReason('form_param_invalid', 'public_metadata', 'too large'))),
      { code: 'provider_rejected', status: 422, retryable: false, effect: 'none' },
    ],
    [
      'rate-limited',
      rateLimited(600),
      { code: 'provider_rate_limited', status: 429, retryable: true, effect: 'none', retryAfter: 600 },
    ],
    [
      'of unknown outcome',
      { status: 500 },
      { code: 'outcome_unknown', status: 409, retryable: false, effect: 'unknown' },
    ],
  ])('says that the fields were changed if the metadata is %s', async (_what, fault, expected) => {
    const { id } = someone()
    backend.faults.add({ path: metadataPath, ...fault })
    const error = await failureOf(fixture.client().updateUser(id, both))
    expect(error).toMatchObject({ ...expected, provider: { name: 'idp', status: fault.status } })
    if (fault.status === 422) expect(error.errors).toEqual([{ path: 'publicMetadata', message: 'too large' }])
    expect(error.message).toMatch(
      /^The user’s fields were changed\. The update of the metadata failed: (The|It is) /,
    )
    expect(backend.users.get(id)).toMatchObject({ first_name: 'Augusta', public_metadata: { plan: 'free' } })
    expect(requests).toHaveLength(2)
  })

  it('has an unknown outcome if its caller aborts it between the two calls', async () => {
    const { id } = someone()
    const controller = new AbortController()
    backend.faults.add({ path: metadataPath, ...rateLimited(1) })
    const idp = fixture.client({ wait: async () => controller.abort(new Error('gone')) })
    expect(await failureOf(idp.updateUser(id, both, { signal: controller.signal }))).toMatchObject({
      code: 'outcome_unknown',
      message: expect.stringContaining('fields were changed'),
    })
  })

  it('has one time limit for both calls', async () => {
    const { id } = someone()
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now())
    fixture.atRequest(1, () => void clock.mockReturnValue(Date.now() + 20_000))
    const error = await failureOf(fixture.client({ timeoutMs: 10_000 }).updateUser(id, both))
    clock.mockRestore()
    expect(error).toMatchObject({ code: 'provider_timeout', effect: 'none' })
    expect(requests).toHaveLength(1)
  })
})
