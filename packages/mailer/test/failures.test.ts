import { inspect } from 'node:util'
import { type Fault, serve } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import type { IntegrationError, MailerOptions } from '../src/index.ts'
import { deadUrl, failureOf, message, runMailProvider } from './support.ts'

const arrangement = runMailProvider()
const { provider, requests, waits } = arrangement

/** Sends one message, and looks at the error for what must never be in one, with everything that it holds. */
async function fail(options: Partial<MailerOptions> = {}): Promise<IntegrationError> {
  const secretly = message({ to: 'ann@example.org', cc: 'bob@example.org', textBody: 'private words' })
  const error = await failureOf(arrangement.mailer(options).sendEmail(secretly))
  expect(inspect(error, { depth: null })).not.toMatch(/@example|private words|server-token/)
  return error
}

const refusal = (ErrorCode: number) => ({
  ErrorCode,
  Message: "Found ann@example.org, 'bob@example.org' and Shop <shop@example.com>.",
})

describe('a send that the provider refuses', () => {
  it('for the token, says so', async () => {
    provider.settings.apiTokens = ['another']
    expect(await fail()).toMatchObject({
      code: 'credentials_rejected',
      status: 422,
      retryable: false,
      sent: 'no',
      hint: expect.stringContaining('Server API Token'),
      provider: { name: 'mailer', status: 401, code: '10' },
    })
    expect([requests.length, provider.messages.length]).toEqual([1, 0])
  })

  it('for the token, says so without a body too', async () => {
    provider.faults.add({ status: 401 })
    expect(await fail()).toMatchObject({ code: 'credentials_rejected', provider: { status: 401 } })
  })

  it.each([300, 400, 401, 402, 403, 405, 406, 409, 410, 411, 412, 413, 1235, 1236, 99_999])(
    'with code %i, is not repeated, and passes the code on',
    async (code) => {
      provider.faults.add({ status: 422, body: refusal(code) })
      const error = await fail()
      expect(error).toMatchObject({
        code: 'provider_rejected',
        retryable: false,
        sent: 'no',
        retryAfter: undefined,
        provider: {
          name: 'mailer',
          status: 422,
          code: String(code),
          message: 'Found [address], [address] and Shop <[address]>.',
        },
      })
      expect(error.message).toContain(String(code))
      expect(requests).toHaveLength(1)
    },
  )

  it.each([300, 400, 401, 405, 406, 411, 412, 413, 1235, 1236])(
    'with code %i, says what can be done',
    async (code) => {
      provider.faults.add({ status: 422, body: refusal(code) })
      expect((await fail()).hint).toMatch(/\.$/)
    },
  )

  it('for inactive recipients in its own words, names none of them', async () => {
    for (const address of ['ann@example.org', 'bob@example.org']) provider.inactive.add(address)
    const error = await fail()
    expect(error.provider).toMatchObject({ code: '406', message: expect.stringContaining('[address]') })
  })

  it.each<[string, Fault, number]>([
    ['a page with 403', { html: true, status: 403 }, 403],
    ['nothing but 404', { status: 404 }, 404],
    ['nothing but 413', { status: 413 }, 413],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 302],
  ])('with %s, points at the base URL', async (_what, fault, status) => {
    provider.faults.add(fault)
    expect(await fail()).toMatchObject({
      code: 'provider_rejected',
      retryable: false,
      sent: 'no',
      message: expect.stringContaining('base URL'),
      provider: { status, code: undefined },
    })
    expect(requests).toHaveLength(1)
  })

  it.each([503, 500, 422])('for maintenance with status %i, may be tried later', async (status) => {
    provider.faults.add({ status, headers: { 'retry-after': '90' }, body: refusal(100) })
    expect(await fail()).toMatchObject({
      code: 'provider_error',
      retryable: true,
      sent: 'no',
      retryAfter: 90,
      provider: { code: '100', status },
    })
    expect(requests).toHaveLength(1)
  })
})

it('a redirect is not followed: message and token reach nobody else', async () => {
  let reached = 0
  const elsewhere = await serve(async () => {
    reached += 1
    return Response.json({})
  })
  for (const status of [301, 302, 303, 307, 308]) {
    provider.faults.add({ status, headers: { location: elsewhere.url } })
    expect(await fail()).toMatchObject({ code: 'provider_rejected' })
  }
  await elsewhere.close()
  expect(reached).toBe(0)
})

describe('a send that is asked to slow down', () => {
  it('waits as long as it was told, and succeeds', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '2' } })
    await arrangement.mailer().sendEmail(message())
    expect([waits, requests.length, provider.messages.length]).toEqual([[2_000], 2, 1])
  })

  it('gives up at once where the wait would outlast its time, and says how long', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '120' } })
    expect(await fail()).toMatchObject({
      code: 'provider_rate_limited',
      status: 429,
      retryable: true,
      sent: 'no',
      retryAfter: 120,
      provider: { status: 429 },
    })
    expect([waits, requests.length]).toEqual([[], 1])
  })

  it('gives up after three tries, also where the provider adds a code', async () => {
    provider.faults.add({ status: 429, body: refusal(429), times: 3 })
    expect(await fail()).toMatchObject({ code: 'provider_rate_limited', retryable: true, sent: 'no' })
    expect([waits.length, requests.length]).toEqual([2, 3])
  })
})

it('a provider that can’t be reached is tried three times, and certainly got nothing', async () => {
  expect(await fail({ baseUrl: await deadUrl() })).toMatchObject({
    code: 'provider_error',
    status: 502,
    retryable: true,
    sent: 'no',
    provider: { name: 'mailer', status: undefined },
    cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
  })
  expect(waits).toHaveLength(2)
})

describe('a send of which nobody knows whether it happened is never repeated:', () => {
  it.each<[string, Fault, number | undefined, number]>([
    ['the connection broke before the provider took it', { cut: 'before' }, undefined, 0],
    ['the connection broke after the provider took it', { cut: 'after' }, undefined, 1],
    ['the connection broke during the answer', { cut: 'during' }, 200, 1],
    ['no answer in time, and nothing sent', { hang: true }, undefined, 0],
    ['no answer in time, and the mail is out', { hang: 'after' }, undefined, 1],
    ['408', { status: 408 }, 408, 0],
    ['500', { status: 500 }, 500, 0],
    ['500 with a code', { status: 500, body: refusal(300), takesEffect: true }, 500, 1],
    ['502', { status: 502 }, 502, 0],
    ['503 with a time to wait', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
    ['504, and the mail is out', { status: 504, takesEffect: true }, 504, 1],
    ['a page with 200', { html: true }, 200, 0],
    ['nothing with 200', { empty: true }, 200, 1],
    ['half an answer', { truncate: true }, 200, 1],
    ['an answer to something else', { status: 200, body: { hello: 'world' } }, 200, 0],
    ['success without an id', { status: 200, body: { ErrorCode: 0 }, takesEffect: true }, 200, 1],
    ['an answer without an end', { status: 200, body: ' '.repeat(1_100_000), takesEffect: true }, 200, 1],
  ])('%s', async (_what, fault, status, accepted) => {
    provider.faults.add(fault)
    expect(await fail({ timeoutMs: 'hang' in fault ? 1_000 : undefined })).toMatchObject({
      code: 'outcome_unknown',
      status: 409,
      retryable: false,
      sent: 'unknown',
      retryAfter: undefined,
      hint: expect.stringContaining('before doing it again'),
      provider: { name: 'mailer', status },
    })
    expect([requests.length, provider.messages.length, waits]).toEqual([1, accepted, []])
  })

  it('its caller ended it', async () => {
    provider.faults.add({ hang: 'after' })
    const controller = new AbortController()
    arrangement.atRequest(1, () => controller.abort())
    const error = await failureOf(arrangement.mailer().sendEmail(message(), { signal: controller.signal }))
    expect(error).toMatchObject({ code: 'outcome_unknown', retryable: false, sent: 'unknown' })
    expect(requests).toHaveLength(1)
  })
})

describe('a send that its caller ends before anything left', () => {
  const reason = new Error('the user went away')

  it('rejects with the caller’s reason', async () => {
    const sending = arrangement.mailer().sendEmail(message(), { signal: AbortSignal.abort(reason) })
    await expect(sending).rejects.toBe(reason)
    expect(requests).toEqual([])
  })

  it('rejects so between two tries too', async () => {
    provider.faults.add({ status: 429 })
    const controller = new AbortController()
    const mailer = arrangement.mailer({ wait: async () => controller.abort(reason) })
    await expect(mailer.sendEmail(message(), { signal: controller.signal })).rejects.toBe(reason)
    expect(requests).toHaveLength(1)
  })

  it('may be tried later where it was the time that ran out', async () => {
    const error = await failureOf(arrangement.mailer().sendEmail(message(), { timeoutMs: 0 }))
    expect(error).toMatchObject({ code: 'provider_timeout', status: 504, retryable: true, sent: 'no' })
    expect(requests).toEqual([])
  })
})

it('a send may take all the time that it was given', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  await arrangement.mailer({ timeoutMs: 60_000 }).sendEmail(message())
  const lengths = timers.mock.calls.map(([, milliseconds = 0]) => milliseconds)
  timers.mockRestore()
  expect(lengths.some((length) => length > 50_000 && length <= 60_000)).toBe(true)
})

describe('reading', () => {
  it('is repeated where a send would not be', async () => {
    provider.faults.add({ status: 503 }, { cut: 'before' })
    await expect(arrangement.mailer().getServer()).resolves.toMatchObject({ id: 1, deliveryType: 'Sandbox' })
    expect(requests.map(({ path }) => path)).toEqual(['/server', '/server', '/server'])
  })

  it.each<[string, Fault, object, number]>([
    ['401', { status: 401 }, { code: 'credentials_rejected', retryable: false }, 1],
    ['500, three times', { status: 500, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['408, three times', { status: 408, times: 3 }, { code: 'provider_timeout', retryable: true }, 3],
    ['pages', { html: true, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['something else', { status: 200, body: {} }, { code: 'provider_error', hint: 'Check the base URL.' }, 1],
    ['maintenance', { status: 503, body: refusal(100), times: 3 }, { code: 'provider_error' }, 3],
    ['a code', { status: 404, body: refusal(1226) }, { code: 'provider_rejected' }, 1],
  ])('fails for %s, and nothing was sent', async (_what, fault, expected, calls) => {
    provider.faults.add(fault)
    const error = await failureOf(arrangement.mailer().getDeliveryStats())
    expect(error).toMatchObject({ ...expected, sent: 'no' })
    expect(requests).toHaveLength(calls)
  })

  it('that hangs ends when its time is over', async () => {
    provider.faults.add({ hang: true })
    const error = await failureOf(arrangement.mailer().getServer({ timeoutMs: 100 }))
    expect(error).toMatchObject({ code: 'provider_timeout', retryable: true, sent: 'no' })
  })

  it('that its caller ends rejects with the caller’s reason', async () => {
    provider.faults.add({ hang: true })
    const controller = new AbortController()
    const reason = new Error('the user went away')
    arrangement.atRequest(1, () => controller.abort(reason))
    const reading = arrangement.mailer().getServer({ signal: controller.signal })
    await expect(reading).rejects.toBe(reason)
  })

  it('asks for the totals that are wanted, and names them plainly', async () => {
    await arrangement.mailer().sendEmail(message({ tag: 'a', messageStream: 'broadcast' }))
    provider.settings.stats = { Bounced: 1, BounceRate: 12.5, SpamComplaints: 2, Opens: 3, Tracked: 4 }
    const filter = { tag: 'a', fromDate: '2020-01-01', toDate: '2999-12-31', messageStream: 'broadcast' }
    const expected = { sent: 1, bounced: 1, bounceRate: 12.5, spamComplaints: 2, opens: 3, tracked: 4 }
    expect(await arrangement.mailer().getDeliveryStats(filter)).toEqual(expected)
    expect(provider.calls.at(-1)?.path).toBe(
      '/stats/outbound?tag=a&fromdate=2020-01-01&todate=2999-12-31&messagestream=broadcast',
    )
  })
})
