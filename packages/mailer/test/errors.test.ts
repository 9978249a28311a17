import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { IntegrationError, isMailError, MailError, type MailerOptions } from '../src/index.ts'
import { deadUrl, failureOf, inFakeTime, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits } = mail

/** Sends one message, and checks that the error shows no address, no text of the message and no token. */
async function fail(options: Partial<MailerOptions> = {}): Promise<IntegrationError> {
  const secretly = message({ to: 'ann@example.org', cc: 'Bob <Bob@example.org>', textBody: 'private words' })
  const error = await failureOf(mail.mailer(options).sendEmail(secretly))
  expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toMatch(
    /@example|private words|server-token/i,
  )
  return error
}

const limited = { code: 'provider_rate_limited', status: 429, retryable: true, effect: 'none' }
const unknown = { code: 'outcome_unknown', retryable: false, effect: 'unknown' }
const notNow = { code: 'provider_error', retryable: true, effect: 'none' }
const Message = "Found ann@example.org, 'bob@example.org' and Shop <shop@example.com>."
const words = 'Found [address], [address] and Shop <[address]>.'
const refusal = (ErrorCode: number) => ({ ErrorCode, Message })

describe('a send', () => {
  it.each([
    [422, 300, []],
    [422, 99_999, []],
    [200, 406, ['ann@example.org']],
    [422, 406, ['ann@example.org']],
  ])(
    'that is refused with status %i and code %i is not retried, and says why',
    async (status, code, rejected) => {
      provider.faults.add({ status, body: refusal(code) })
      const error = await fail()
      if (!isMailError(error)) expect.fail('expected a MailError')
      expect(error).toMatchObject({
        ...{ code: 'provider_rejected', retryable: false, effect: 'none', retryAfter: undefined },
        message: `The mail provider refused (code ${code}): ${words}`,
        provider: { name: 'mailer', status, code: String(code), message: words },
      })
      expect([error.providerMessage, error.rejected, error.results]).toEqual([Message, rejected, undefined])
      expect(error.stack).toMatch(/^MailError: The mail provider refused/)
      expect(requests).toHaveLength(1)
    },
  )

  it('fails with credentials_rejected when the provider rejects the token', async () => {
    provider.settings.apiTokens = ['another']
    expect(await fail()).toMatchObject({
      ...{ code: 'credentials_rejected', status: 401, retryable: false, effect: 'none' },
      hint: expect.stringContaining('Server API Token'),
      provider: { name: 'mailer', status: 401, code: '10' },
      stack: expect.stringMatching(/^MailError: The mail provider does not accept/),
    })
    expect([requests.length, provider.messages.length]).toEqual([1, 0])
  })

  it.each<[string, Fault, object]>([
    ['a page with 401', { html: true, status: 401 }, { message: expect.stringContaining('base URL') }],
    [
      'a redirect',
      { status: 302, headers: { location: '/x' } },
      { message: expect.stringContaining('base URL') },
    ],
    [
      'maintenance',
      { status: 503, headers: { 'retry-after': '90' }, body: refusal(100) },
      { retryAfter: 90 },
    ],
    ['maintenance with 422', { status: 422, body: refusal(100) }, { provider: { code: '100', status: 422 } }],
  ])('may be sent later after %s, and is not retried', async (_, fault, expected) => {
    provider.faults.add(fault)
    expect(await fail()).toMatchObject({ ...notNow, ...expected })
    expect(requests).toHaveLength(1)
  })

  it.each<[string, Fault, object, number[], number]>([
    ['succeeds', { status: 429, headers: { 'retry-after': '2' } }, {}, [2_000], 2],
    [
      'fails at once if Retry-After is too long',
      { status: 429, headers: { 'retry-after': '120' } },
      { retryAfter: 120 },
      [],
      1,
    ],
    [
      'fails after three attempts',
      { status: 429, body: refusal(429), times: 3 },
      limited,
      expect.any(Array),
      3,
    ],
  ])('waits after 429, and %s', async (what, fault, expected, pauses, attempts) => {
    provider.faults.add(fault)
    if (what === 'succeeds') await mail.mailer().sendEmail(message())
    else expect(await fail()).toMatchObject({ ...limited, ...expected })
    expect([waits, requests.length]).toEqual([pauses, attempts])
  })

  it('fails after three attempts without a connection, and was not sent', async () => {
    const cause = expect.objectContaining({ code: 'ECONNREFUSED' })
    const facts = { cause, provider: { name: 'mailer', status: undefined } }
    const stack = expect.stringMatching(/^MailError: The mail provider failed/)
    expect(await fail({ baseUrl: await deadUrl() })).toMatchObject({
      ...notNow,
      status: 502,
      ...facts,
      stack,
    })
    expect(waits).toHaveLength(2)
  })

  it.each<[string, Fault, number | undefined, number]>([
    ['the connection broke before the provider accepted it', { cut: 'before' }, undefined, 0],
    ['the connection broke during the response', { cut: 'during' }, 200, 1],
    ['the status is 408', { status: 408 }, 408, 0],
    ['the status is 500 with a code', { status: 500, body: refusal(300), takesEffect: true }, 500, 1],
    ['the status is 503 with Retry-After', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
    ['a page came with 200', { html: true }, 200, 0],
    ['200 came without a body', { empty: true }, 200, 1],
    ['half a response came', { truncate: true }, 200, 1],
    ['the response has no id', { status: 200, body: { ErrorCode: 0, MessageID: '' } }, 200, 0],
    ['the response is about somebody else', { status: 200, body: { MessageID: '1', To: 'x@y.z' } }, 200, 0],
    ['the response is too long', { status: 200, body: ' '.repeat(1_100_000), takesEffect: true }, 200, 1],
  ])('has an unknown outcome and is not retried if %s', async (_, fault, status, accepted) => {
    provider.faults.add(fault)
    const provided = { provider: { name: 'mailer', status }, status: status ?? 409 }
    const facts = { retryAfter: undefined, hint: expect.any(String), ...provided }
    expect(await fail()).toMatchObject({ ...unknown, ...facts })
    expect([requests.length, provider.messages.length, waits]).toEqual([1, accepted, []])
  })

  it('has an unknown outcome if its response never comes, or its signal fires before', async () => {
    provider.faults.add({ hang: 'after', times: 2 })
    const sending = () => fail({ fetch: provider.fetch, timeoutMs: 1_000 })
    expect(await inFakeTime(sending, () => 1_000 * provider.calls.length)).toMatchObject(unknown)
    expect([provider.calls.length, provider.messages.length, waits]).toEqual([1, 1, []])
    const controller = new AbortController()
    mail.atRequest(1, () => controller.abort())
    const aborted = mail.mailer().sendEmail(message(), { signal: controller.signal })
    expect(await failureOf(aborted)).toMatchObject(unknown)
  })

  const left = new Error('the user left')
  const taken = new IntegrationError('delivery_in_progress', 'The lease is lost.')
  it.each([
    ['an error', { signal: AbortSignal.abort(left) }, { code: 'aborted', cause: left }],
    [
      'an IntegrationError',
      { signal: AbortSignal.abort(taken) },
      { name: 'IntegrationError', code: taken.code },
    ],
    [
      'a time-out',
      { signal: AbortSignal.abort(new DOMException('late', 'TimeoutError')) },
      { code: 'provider_timeout' },
    ],
    ['a deadline in the past', { deadline: 1 }, { code: 'provider_timeout', status: 504, retryable: true }],
  ])('does not leave if its call was ended before by %s', async (_, options, expected) => {
    const error = await failureOf(mail.mailer().sendEmail(message(), options))
    expect(error).toMatchObject({ ...expected, effect: 'none' })
    expect(requests).toEqual([])
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
    ['408', { status: 408, times: 3 }, { code: 'provider_timeout', retryable: true }, 3],
    ['pages', { html: true, times: 3 }, { code: 'provider_error', retryable: true }, 3],
    [
      'something else',
      { status: 200, body: {} },
      { code: 'provider_error', message: expect.stringContaining('check the base URL') },
      1,
    ],
    ['a code', { status: 404, body: refusal(1226) }, { code: 'provider_rejected' }, 1],
  ])('fails when the provider answers with %s, and has no effect', async (_, fault, expected, calls) => {
    provider.faults.add(fault)
    const error = await failureOf(mail.mailer().getDeliveryStats())
    expect(error).toMatchObject({ ...expected, effect: 'none' })
    expect(requests).toHaveLength(calls)
  })

  it('passes the filter of the statistics on, and returns the totals', async () => {
    await mail.mailer().sendEmail(message({ tag: 'a', messageStream: 'broadcast' }))
    const stats = {
      Bounced: 8,
      BounceRate: 12.5,
      SpamComplaints: 2,
      SMTPApiErrors: 5,
      WithReadTimeRecorded: 6,
    }
    provider.settings.stats = stats
    const filter = { tag: 'a', fromDate: '2020-01-01', toDate: '2999-12-31', messageStream: 'broadcast' }
    const totals = await mail.mailer().getDeliveryStats(filter)
    const rates = { bounceRate: 12.5, spamComplaintsRate: 200 }
    const counts = { sent: 1, bounced: 8, spamComplaints: 2, smtpApiErrors: 5, withReadTimeRecorded: 6 }
    expect(totals).toMatchObject({ ...counts, ...rates })
    expect(Object.keys(totals)).toHaveLength(17)
    expect(provider.calls.at(-1)?.path).toBe(
      '/stats/outbound?tag=a&fromdate=2020-01-01&todate=2999-12-31&messagestream=broadcast',
    )
  })
})

it('is a MailError, also if the fetch of the caller fails in a way of its own', async () => {
  const cause = new TypeError('No mock for POST /email')
  const error = await failureOf(
    mail
      .mailer({
        fetch: () => {
          throw cause
        },
      })
      .sendEmail(message()),
  )
  expect(error).toBeInstanceOf(MailError)
  expect(error).toMatchObject({ ...notNow, cause })
})
