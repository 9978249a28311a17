import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import { IntegrationError, type MailerOptions } from '../src/index.ts'
import { deadUrl, failureOf, inFakeTime, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits } = mail

/** Sends one message, and checks that the error holds no address, no text of the message and no token. */
async function fail(options: Partial<MailerOptions> = {}): Promise<IntegrationError> {
  const secretly = message({ to: 'ann@example.org', cc: 'bob@example.org', textBody: 'private words' })
  const error = await failureOf(mail.mailer(options).sendEmail(secretly))
  expect(inspect(error, { depth: null })).not.toMatch(/@example|private words|server-token/)
  return error
}

const refused = { code: 'provider_rejected', retryable: false, effect: 'none' }
const limited = { code: 'provider_rate_limited', status: 429, retryable: true, effect: 'none' }
const unknown = { code: 'outcome_unknown', status: 409, retryable: false, effect: 'unknown' }

const refusal = (ErrorCode: number) => ({
  ErrorCode,
  Message: "Found ann@example.org, 'bob@example.org' and Shop <shop@example.com>.",
})

describe('a send', () => {
  it('fails with credentials_rejected when the provider rejects the token', async () => {
    provider.settings.apiTokens = ['another']
    expect(await fail()).toMatchObject({
      code: 'credentials_rejected',
      status: 422,
      retryable: false,
      effect: 'none',
      hint: expect.stringContaining('Server API Token'),
      provider: { name: 'mailer', status: 401, code: '10' },
    })
    expect([requests.length, provider.messages.length]).toEqual([1, 0])
  })

  it.each([300, 400, 99_999])('fails with the provider’s code %i, and is not retried', async (code) => {
    provider.faults.add({ status: 422, body: refusal(code) })
    const error = await fail()
    const message = 'Found [address], [address] and Shop <[address]>.'
    expect(error).toMatchObject({
      ...refused,
      message: `The mail provider refused (code ${code}): ${message}`,
      retryAfter: undefined,
      provider: { name: 'mailer', status: 422, code: String(code), message },
    })
    expect(requests).toHaveLength(1)
  })

  it('fails with the provider’s code that comes with status 200, too', async () => {
    provider.faults.add({ status: 200, body: refusal(406) })
    expect(await fail()).toMatchObject({ ...refused, provider: { status: 200, code: '406' } })
  })

  it.each<[string, Fault, number]>([
    ['a page with 403', { html: true, status: 403 }, 403],
    ['a page with 401', { html: true, status: 401 }, 401],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, 302],
  ])('may be sent later after %s of a gateway, and points at the base URL', async (_what, fault, status) => {
    provider.faults.add(fault)
    const error = { code: 'provider_error', retryable: true, effect: 'none' }
    const message = expect.stringContaining('base URL')
    expect(await fail()).toMatchObject({ ...error, message, provider: { status, code: undefined } })
    expect(requests).toHaveLength(1)
  })

  it.each([503, 422])('may be sent later after maintenance with status %i', async (status) => {
    provider.faults.add({ status, headers: { 'retry-after': '90' }, body: refusal(100) })
    const error = { code: 'provider_error', retryable: true, effect: 'none', retryAfter: 90 }
    expect(await fail()).toMatchObject({ ...error, provider: { code: '100', status } })
    expect(requests).toHaveLength(1)
  })

  it('waits as long as Retry-After says after 429, and succeeds', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '2' } })
    await mail.mailer().sendEmail(message())
    expect([waits, requests.length, provider.messages.length]).toEqual([[2_000], 2, 1])
  })

  it('fails at once if Retry-After is longer than the time limit, and passes it on', async () => {
    provider.faults.add({ status: 429, headers: { 'retry-after': '120' } })
    expect(await fail()).toMatchObject({ ...limited, retryAfter: 120, provider: { status: 429 } })
    expect([waits, requests.length]).toEqual([[], 1])
  })

  it('fails after three attempts with 429, also when the provider adds a code', async () => {
    provider.faults.add({ status: 429, body: refusal(429), times: 3 })
    expect(await fail()).toMatchObject(limited)
    expect([waits.length, requests.length]).toEqual([2, 3])
  })

  it('fails after three attempts without a connection, and was not sent', async () => {
    expect(await fail({ baseUrl: await deadUrl() })).toMatchObject({
      code: 'provider_error',
      status: 502,
      retryable: true,
      effect: 'none',
      provider: { name: 'mailer', status: undefined },
      cause: expect.objectContaining({ code: 'ECONNREFUSED' }),
    })
    expect(waits).toHaveLength(2)
  })

  it.each<[string, Fault, number | undefined, number]>([
    ['the connection broke before the provider accepted it', { cut: 'before' }, undefined, 0],
    ['the connection broke after the provider accepted it', { cut: 'after' }, undefined, 1],
    ['the connection broke during the response', { cut: 'during' }, 200, 1],
    ['the status is 408', { status: 408 }, 408, 0],
    ['the status is 500 with a code', { status: 500, body: refusal(300), takesEffect: true }, 500, 1],
    ['the status is 503 with Retry-After', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
    ['the status is 504, but the mail was accepted', { status: 504, takesEffect: true }, 504, 1],
    ['a page came with 200', { html: true }, 200, 0],
    ['200 came without a body', { empty: true }, 200, 1],
    ['half a response came', { truncate: true }, 200, 1],
    ['the response is something else', { status: 200, body: { hello: 'world' } }, 200, 0],
    ['the response has no id', { status: 200, body: { ErrorCode: 0 }, takesEffect: true }, 200, 1],
    ['the response has an empty id', { status: 200, body: { ErrorCode: 0, MessageID: '' } }, 200, 0],
    ['the response is too long', { status: 200, body: ' '.repeat(1_100_000), takesEffect: true }, 200, 1],
  ])('has an unknown outcome and is not retried if %s', async (_what, fault, status, accepted) => {
    provider.faults.add(fault)
    expect(await fail()).toMatchObject({
      ...unknown,
      retryAfter: undefined,
      hint: expect.any(String),
      provider: { name: 'mailer', status },
    })
    expect([requests.length, provider.messages.length, waits]).toEqual([1, accepted, []])
  })

  it.each([
    ['never comes', true, 0],
    ['never comes although the mail was accepted', 'after', 1],
  ] as const)(
    'has an unknown outcome and is not retried if its response %s',
    async (_what, hang, accepted) => {
      provider.faults.add({ hang })
      const sending = () => fail({ fetch: provider.fetch, timeoutMs: 1_000 })
      expect(await inFakeTime(sending, () => 1_000 * provider.calls.length)).toMatchObject(unknown)
      expect([provider.calls.length, provider.messages.length, waits]).toEqual([1, accepted, []])
    },
  )

  it('has an unknown outcome if its signal fires after the request left', async () => {
    provider.faults.add({ hang: 'after' })
    const controller = new AbortController()
    mail.atRequest(1, () => controller.abort())
    const error = await failureOf(mail.mailer().sendEmail(message(), { signal: controller.signal }))
    expect(error).toMatchObject(unknown)
    expect(requests).toHaveLength(1)
  })

  const reason = new Error('the user left')
  const aborted = { code: 'aborted', effect: 'none', cause: reason }

  it('is aborted if its signal fired before', async () => {
    const sending = mail.mailer().sendEmail(message(), { signal: AbortSignal.abort(reason) })
    await expect(sending).rejects.toMatchObject(aborted)
    expect(requests).toEqual([])
  })

  it.each([
    ['an IntegrationError as it is', new IntegrationError('delivery_in_progress', 'The lease is lost.')],
    ['a time-out as provider_timeout', new DOMException('late', 'TimeoutError')],
  ])('rejects with a reason that is %s', async (_, given) => {
    const error = await failureOf(mail.mailer().sendEmail(message(), { signal: AbortSignal.abort(given) }))
    if (given instanceof IntegrationError) expect(error).toBe(given)
    else expect(error).toMatchObject({ code: 'provider_timeout', effect: 'none' })
  })

  it('may be retried if its time was over before the request left', async () => {
    const error = await failureOf(mail.mailer().sendEmail(message(), { deadline: 1 }))
    expect(error).toMatchObject({ code: 'provider_timeout', status: 504, retryable: true, effect: 'none' })
    expect(requests).toEqual([])
  })

  it('may use its whole time limit for one attempt', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await mail.mailer({ timeoutMs: 60_000 }).sendEmail(message())
    const delays = timers.mock.calls.map(([, milliseconds = 0]) => milliseconds)
    timers.mockRestore()
    expect(delays.some((delay) => delay > 50_000 && delay <= 60_000)).toBe(true)
  })
})

describe('a read', () => {
  it('is retried where a send is not', async () => {
    provider.faults.add({ status: 503 }, { cut: 'before' })
    await expect(mail.mailer().getServer()).resolves.toMatchObject({ id: 1, deliveryType: 'Sandbox' })
    expect(requests.map(({ path }) => path)).toEqual(['/server', '/server', '/server'])
  })

  it.each<[string, Fault, object, number]>([
    ['401', { status: 401 }, { code: 'credentials_rejected', retryable: false }, 1],
    ['500', { status: 500, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['408', { status: 408, times: 3 }, { code: 'provider_timeout', retryable: true }, 3],
    ['pages', { html: true, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    ['something else', { status: 200, body: {} }, { code: 'provider_error', hint: 'Check the base URL.' }, 1],
    ['maintenance', { status: 503, body: refusal(100), times: 3 }, { code: 'provider_error' }, 3],
    ['a code', { status: 404, body: refusal(1226) }, { code: 'provider_rejected' }, 1],
  ])('fails when the provider answers with %s, and has no effect', async (_what, fault, expected, calls) => {
    provider.faults.add(fault)
    const error = await failureOf(mail.mailer().getDeliveryStats())
    expect(error).toMatchObject({ ...expected, effect: 'none' })
    expect(requests).toHaveLength(calls)
  })

  it('passes the filter of the statistics on, and returns the totals', async () => {
    await mail.mailer().sendEmail(message({ tag: 'a', messageStream: 'broadcast' }))
    const rare = { SMTPApiErrors: 5, WithReadTimeRecorded: 6 }
    provider.settings.stats = {
      Bounced: 8,
      BounceRate: 12.5,
      SpamComplaints: 2,
      Opens: 3,
      Tracked: 4,
      ...rare,
    }
    const filter = { tag: 'a', fromDate: '2020-01-01', toDate: '2999-12-31', messageStream: 'broadcast' }
    const totals = await mail.mailer().getDeliveryStats(filter)
    const expected = { sent: 1, bounced: 8, bounceRate: 12.5, spamComplaints: 2, spamComplaintsRate: 200 }
    expect(totals).toMatchObject({
      ...expected,
      opens: 3,
      tracked: 4,
      smtpApiErrors: 5,
      withReadTimeRecorded: 6,
    })
    expect(Object.keys(totals)).toHaveLength(17)
    expect(provider.calls.at(-1)?.path).toBe(
      '/stats/outbound?tag=a&fromdate=2020-01-01&todate=2999-12-31&messagestream=broadcast',
    )
  })
})
