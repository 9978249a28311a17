import { inspect } from 'node:util'
import { type Fault, serve } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import type { IdpClient, IdpClientOptions, IntegrationError } from '../src/index.ts'
import { asFault, internalError, parameterReason, Refusal, rateLimited } from '../src/testing/index.ts'
import { deadUrl, failureOf, runIdp } from './support.ts'

const arrangement = runIdp()
const { backend, requests, waits } = arrangement

const ada = { emailAddress: 'ada@example.com', firstName: 'Ada', password: 'a long pass phrase' }

/** Makes a call that fails, and looks at the error for what must never be in one, with everything it holds. */
async function fail(
  call: (idp: IdpClient) => Promise<unknown>,
  options: Partial<IdpClientOptions> = {},
): Promise<IntegrationError> {
  const error = await failureOf(call(arrangement.client(options)))
  expect(inspect(error, { depth: null })).not.toMatch(/@example|sk_test_|pass phrase/)
  return error
}

const create = (idp: IdpClient) => idp.createUser(ada)
const count = (idp: IdpClient) => idp.countUsers()

describe('a refusal', () => {
  it('of the key says so, and what can be done', async () => {
    backend.instance.settings.secretKeyRevoked = true
    for (const call of [create, count]) {
      expect(await fail(call)).toMatchObject({
        code: 'credentials_rejected',
        status: 422,
        retryable: false,
        sent: 'no',
        hint: expect.stringContaining('secret key'),
        provider: { name: 'idp', status: 401, code: 'clerk_key_invalid' },
      })
    }
    expect([requests.length, backend.users.size]).toEqual([2, 0])
  })

  it('of an id passes the provider’s code and words on', async () => {
    const error = await fail((idp) => idp.getUser('user_nobody'))
    expect(error).toMatchObject({
      code: 'provider_rejected',
      status: 422,
      retryable: false,
      sent: 'no',
      hint: 'Check the id.',
      message: expect.stringContaining('No user was found with id user_nobody'),
      provider: { status: 404, code: 'resource_not_found', message: 'No user was found with id user_nobody' },
    })
  })

  it('of a field passes the provider’s code and words on, without the addresses in them', async () => {
    const words = 'The address ada@example.com, or Ada <ada@example.com>, is taken.'
    const refusal = new Refusal(
      422,
      parameterReason('form_identifier_exists', 'email_address', 'taken', words),
    )
    backend.faults.add(asFault(refusal))
    expect(await fail(create)).toMatchObject({
      code: 'provider_rejected',
      retryable: false,
      sent: 'no',
      hint: expect.stringContaining('listUsers'),
      message: expect.stringContaining('The address [address], or Ada <[address]>, is taken.'),
      provider: { status: 422, code: 'form_identifier_exists' },
    })
    expect(requests).toHaveLength(1)
  })

  it('tells the first of several reasons, whatever the others are', async () => {
    const errors = [{ code: 'first', message: 'Short.', long_message: '' }, { nonsense: true }, 7]
    backend.faults.add({ status: 400, body: { errors } })
    expect(await fail(create)).toMatchObject({ provider: { status: 400, code: 'first', message: 'Short.' } })
  })

  it.each<[string, Fault, number]>([
    ['a page with 403', { html: true, status: 403 }, 403],
    ['nothing but 404', { status: 404 }, 404],
    ['an empty list of reasons', { status: 409, body: { errors: [] } }, 409],
    ['a redirect', { status: 307, headers: { location: '/elsewhere' } }, 307],
  ])('with %s points at the base URL', async (_what, fault, status) => {
    backend.faults.add(fault)
    expect(await fail(create)).toMatchObject({
      code: 'provider_rejected',
      retryable: false,
      sent: 'no',
      message: expect.stringContaining('base URL'),
      provider: { status, code: undefined },
    })
    expect(requests).toHaveLength(1)
  })
})

it('a redirect is not followed: the key reaches nobody else', async () => {
  let reached = 0
  const elsewhere = await serve(async () => {
    reached += 1
    return Response.json({})
  })
  for (const status of [301, 302, 303, 307, 308]) {
    backend.faults.add({ status, headers: { location: elsewhere.url } })
    expect(await fail(count)).toMatchObject({ code: 'provider_rejected' })
  }
  await elsewhere.close()
  expect(reached).toBe(0)
})

describe('a call that is asked to slow down', () => {
  it.each([
    ['a read', count],
    ['a change', create],
  ])('waits as long as it was told where it has the time: %s', async (_what, call) => {
    backend.faults.add(rateLimited(7), rateLimited(9))
    await call(arrangement.client())
    expect([waits, requests.length]).toEqual([[7_000, 9_000], 3])
  })

  it.each([
    ['a read', count],
    ['a change', create],
  ])('gives up at once where it has not, and says how long: %s', async (_what, call) => {
    backend.faults.add(rateLimited(120))
    expect(await fail(call)).toMatchObject({
      code: 'provider_rate_limited',
      status: 429,
      retryable: true,
      sent: 'no',
      retryAfter: 120,
      provider: { status: 429, code: 'too_many_requests' },
    })
    expect([waits, requests.length, backend.users.size]).toEqual([[], 1, 0])
  })

  it('gives up after three tries', async () => {
    backend.faults.add({ ...rateLimited(1), times: 3 })
    expect(await fail(create)).toMatchObject({ code: 'provider_rate_limited', retryAfter: 1 })
    expect([waits.length, requests.length]).toEqual([2, 3])
  })
})

describe('a provider that can’t be reached', () => {
  it.each([
    ['a read', count],
    ['a change', create],
  ])('is tried three times, and certainly did nothing: %s', async (_what, call) => {
    expect(await fail(call, { baseUrl: await deadUrl() })).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: true,
      sent: 'no',
      provider: { name: 'idp', status: undefined },
    })
    expect(waits).toHaveLength(2)
  })
})

/** What goes wrong, whether the provider did what it was asked, and what a read that always meets it fails with. */
const faults: [string, Fault, number, string][] = [
  ['the connection breaks before', { cut: 'before' }, 0, 'provider_error'],
  ['the connection breaks after', { cut: 'after' }, 1, 'provider_error'],
  ['the connection breaks in the answer', { cut: 'during' }, 1, 'provider_error'],
  ['408', { status: 408 }, 0, 'provider_timeout'],
  ['500', internalError(), 0, 'provider_error'],
  ['500, and it is done', { status: 500, takesEffect: true }, 1, 'provider_error'],
  ['502', { status: 502 }, 0, 'provider_error'],
  ['503, and when to come back', { status: 503, headers: { 'retry-after': '5' } }, 0, 'provider_error'],
  ['504, and it is done', { status: 504, takesEffect: true }, 1, 'provider_error'],
  ['a page with 200', { html: true }, 0, 'provider_error'],
  ['half an answer', { truncate: true }, 1, 'provider_error'],
]

describe('a change of which nobody knows whether it was made is never made again:', () => {
  it.each<[string, Fault, number, string?]>([
    ...faults,
    ['no answer in time, and nothing done', { hang: true }, 0],
    ['no answer in time, and it is done', { hang: 'after' }, 1],
    ['nothing with 200', { empty: true }, 1],
    ['an answer to something else', { status: 200, body: { id: 7 }, takesEffect: true }, 1],
  ])('%s', async (_what, fault, created) => {
    backend.faults.add(fault)
    expect(await fail(create, { timeoutMs: 'hang' in fault ? 100 : undefined })).toMatchObject({
      code: 'outcome_unknown',
      status: 409,
      retryable: false,
      sent: 'unknown',
      retryAfter: undefined,
      message: expect.stringContaining('whether the change was made'),
      hint: 'Look at the provider before doing it again.',
    })
    expect([requests.length, backend.users.size, waits]).toEqual([1, created, []])
  })

  it.each<[string, (idp: IdpClient) => Promise<unknown>]>([
    ['updateUser', (idp) => idp.updateUser('user_1', { firstName: 'Ada' })],
    ['deleteUser', (idp) => idp.deleteUser('user_1')],
    ['createOrganization', (idp) => idp.createOrganization({ name: 'Shop' })],
  ])('%s too', async (_name, call) => {
    backend.faults.add({ status: 500 })
    expect(await fail(call)).toMatchObject({ code: 'outcome_unknown' })
    expect(requests).toHaveLength(1)
  })

  it('its caller ended it', async () => {
    backend.faults.add({ hang: 'after' })
    const controller = new AbortController()
    arrangement.atRequest(1, () => controller.abort())
    const error = await fail((idp) => idp.createUser(ada, { signal: controller.signal }))
    expect(error).toMatchObject({ code: 'outcome_unknown', sent: 'unknown' })
    expect(requests).toHaveLength(1)
  })
})

describe('a read is made again:', () => {
  it.each(faults)('%s', async (_what, fault) => {
    backend.faults.add(fault)
    expect(await arrangement.client().countUsers()).toBe(0)
    expect([requests.length, waits.length]).toEqual([2, 1])
  })

  it.each(faults)('but not for ever: %s', async (_what, fault, _created, code) => {
    backend.faults.add({ ...fault, times: 3 })
    expect(await fail(count)).toMatchObject({ code, retryable: true, sent: 'no' })
    expect(requests).toHaveLength(3)
  })

  it.each<[string, Fault]>([
    ['nothing with 200', { empty: true }],
    ['an answer to something else', { status: 200, body: { hello: 'world' } }],
  ])('but not for %s, which stays as it is', async (_what, fault) => {
    backend.faults.add(fault)
    expect(await fail(count)).toMatchObject({ code: 'provider_error', hint: 'Check the base URL.' })
    expect(requests).toHaveLength(1)
  })

  it('until its time is over', async () => {
    backend.faults.add({ hang: true })
    const error = await fail((idp) => idp.countUsers({}, { timeoutMs: 100 }))
    expect(error).toMatchObject({ code: 'provider_timeout', status: 504, retryable: true, sent: 'no' })
  })
})

describe('a call that its caller ends before anything happened', () => {
  const reason = new Error('the user went away')

  it('rejects with the caller’s reason', async () => {
    const creating = arrangement.client().createUser(ada, { signal: AbortSignal.abort(reason) })
    await expect(creating).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  it('rejects so between two tries too', async () => {
    backend.faults.add({ status: 429 })
    const controller = new AbortController()
    const idp = arrangement.client({ wait: async () => controller.abort(reason) })
    await expect(idp.createUser(ada, { signal: controller.signal })).rejects.toBe(reason)
    expect([requests.length, backend.users.size]).toEqual([1, 0])
  })

  it('rejects so where it only reads', async () => {
    backend.faults.add({ hang: true })
    const controller = new AbortController()
    arrangement.atRequest(1, () => controller.abort(reason))
    const reading = arrangement.client().countUsers({}, { signal: controller.signal })
    await expect(reading).rejects.toBe(reason)
  })

  it('may be tried later where it was the time that ran out', async () => {
    const error = await fail((idp) => idp.createUser(ada, { timeoutMs: 0 }))
    expect(error).toMatchObject({ code: 'provider_timeout', retryable: true, sent: 'no' })
    expect(requests).toEqual([])
  })
})

it('a change may take all the time that it was given', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  await arrangement.client({ timeoutMs: 60_000 }).createUser(ada)
  const lengths = timers.mock.calls.map(([, milliseconds = 0]) => milliseconds)
  timers.mockRestore()
  expect(lengths.some((length) => length > 50_000 && length <= 60_000)).toBe(true)
})

it.each(['', ' ', 'sk_test_one\nsk_test_two', 'sk_test_…'])(
  'a key that can’t be sent is missing: %j',
  async (secretKey) => {
    const error = await failureOf(arrangement.client({ secretKey }).getInstance())
    expect(error).toMatchObject({ code: 'missing_credentials', retryable: false, sent: 'no' })
    expect([requests.length, inspect(error, { depth: null }).includes('sk_test_')]).toEqual([0, false])
  },
)
