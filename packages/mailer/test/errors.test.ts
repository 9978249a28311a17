import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { expect, it } from 'vitest'
import { type IntegrationError, isMailError, MailError, type MailerOptions } from '../src/index.ts'
import { deadUrl, failureOf, message, runMailProvider } from './support.ts'

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
const notNow = { code: 'provider_error', retryable: true, effect: 'none' }
const Message = "Found ann@example.org, 'bob@example.org' and Shop <shop@example.com>."
const words = 'Found [address], [address] and Shop <[address]>.'
const refusal = (ErrorCode: number) => ({ ErrorCode, Message })

it.each([
  [422, 300, []],
  [200, 406, ['ann@example.org']],
  [422, 406, ['ann@example.org']],
])('a mail refused with status %i and code %i is not sent again', async (status, code, rejected) => {
  provider.faults.add({ status, body: refusal(code) })
  const error = await fail()
  if (!isMailError(error)) expect.fail('expected a MailError')
  expect(error).toMatchObject({
    ...{ code: 'provider_rejected', retryable: false, effect: 'none', retryAfter: undefined },
    message: `The mail provider refused (code ${code}): ${words}`,
    provider: { name: 'mailer', status, code: String(code), message: words },
    stack: expect.stringMatching(/^MailError: The mail provider refused/),
  })
  expect([error.providerMessage, error.rejected, error.results]).toEqual([Message, rejected, undefined])
  expect(requests).toHaveLength(1)
})

it('a refused token is not tried again, and the hint says where to look', async () => {
  provider.settings.apiTokens = ['another']
  expect(await fail()).toMatchObject({
    ...{ code: 'credentials_rejected', status: 401, retryable: false, effect: 'none' },
    hint: expect.stringContaining('Server API Token'),
    provider: { name: 'mailer', status: 401, code: '10' },
  })
  expect([requests.length, provider.messages.length]).toEqual([1, 0])
})

const later = { 'retry-after': '90' }
it.each<[string, Fault, object]>([
  ['a page with 401', { html: true, status: 401 }, { message: expect.stringContaining('base URL') }],
  ['maintenance', { status: 503, headers: later, body: refusal(100) }, { retryAfter: 90 }],
  ['maintenance with 422', { status: 422, body: refusal(100) }, { provider: { code: '100', status: 422 } }],
  ['a long rate limit', { status: 429, headers: later }, { ...limited, retryAfter: 90 }],
])('a mail may be sent later after %s, and is not retried', async (_, fault, expected) => {
  provider.faults.add(fault)
  expect(await fail()).toMatchObject({ ...notNow, ...expected })
  expect([requests.length, waits]).toEqual([1, []])
})

it('a mail is tried three times in all, after a short rate limit and without a connection', async () => {
  provider.faults.add({ status: 429, headers: { 'retry-after': '2' } })
  await mail.mailer().sendEmail(message())
  expect([waits, requests.length]).toEqual([[2_000], 2])
  provider.faults.add({ status: 429, body: refusal(429), times: 3 })
  expect(await fail()).toMatchObject(limited)
  expect(requests).toHaveLength(5)
  waits.length = 0
  const cause = expect.objectContaining({ code: 'ECONNREFUSED' })
  const facts = { status: 502, cause, provider: { name: 'mailer', status: undefined } }
  expect(await fail({ baseUrl: await deadUrl() })).toMatchObject({ ...notNow, ...facts })
  expect(waits).toHaveLength(2)
})

it.each<[string, Fault, number | undefined, number]>([
  ['the connection broke', { cut: 'during' }, 200, 1],
  ['the status is 500 with a code', { status: 500, body: refusal(300), takesEffect: true }, 500, 1],
  ['a gateway says 503', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
  ['the response has no id', { status: 200, body: { ErrorCode: 0, MessageID: '' } }, 200, 0],
  ['the response has an endless id', { status: 200, body: { MessageID: 'i'.repeat(501) } }, 200, 0],
  ['the response is about somebody else', { status: 200, body: { MessageID: '1', To: 'x@y.z' } }, 200, 0],
])('the fate of a mail is unknown, and it is not sent again, if %s', async (_, fault, status, accepted) => {
  provider.faults.add(fault)
  const provided = { provider: { name: 'mailer', status }, status: status ?? 409, hint: expect.any(String) }
  const unknown = { code: 'outcome_unknown', retryable: false, effect: 'unknown', retryAfter: undefined }
  expect(await fail()).toMatchObject({ ...unknown, ...provided })
  expect([requests.length, provider.messages.length, waits]).toEqual([1, accepted, []])
})

const left = new Error('the user left')
it.each([
  ['its signal', { signal: AbortSignal.abort(left) }, { code: 'aborted', cause: left }],
  ['a deadline in the past', { deadline: 1 }, { code: 'provider_timeout', status: 504, retryable: true }],
])('a mail does not leave if its call was ended before by %s', async (_, options, expected) => {
  const error = await failureOf(mail.mailer().sendEmail(message(), options))
  expect(error).toMatchObject({ ...expected, effect: 'none' })
  expect(requests).toEqual([])
})

it('what the fetch of the caller throws is the cause of a MailError', async () => {
  const cause = new TypeError('No mock for POST /email')
  const fetch = () => {
    throw cause
  }
  const error = await fail({ fetch })
  expect(error).toBeInstanceOf(MailError)
  expect(error).toMatchObject({ ...notNow, cause })
})

const elsewhere = { code: 'provider_error', message: expect.stringContaining('check the base URL') }
it.each<[string, Fault, object, number]>([
  ['408', { status: 408, times: 3 }, { code: 'provider_timeout', retryable: true }, 3],
  ['something else', { status: 200, body: {} }, elsewhere, 1],
  ['a code', { status: 404, body: refusal(1226) }, { code: 'provider_rejected' }, 1],
])('a read that is answered with %s fails, and had no effect', async (_, fault, expected, calls) => {
  provider.faults.add(fault)
  const error = await failureOf(mail.mailer().getDeliveryStats())
  expect(error).toMatchObject({ ...expected, effect: 'none' })
  expect(requests).toHaveLength(calls)
})

it('the statistics are those of the filter, all 17 totals', async () => {
  await mail.mailer().sendEmail(message({ tag: 'a', messageStream: 'broadcast' }))
  provider.settings.stats = { Bounced: 8, BounceRate: 12.5, SpamComplaints: 2, SMTPApiErrors: 5 }
  const filter = { tag: 'a', fromDate: '2020-01-01', toDate: '2999-12-31', messageStream: 'broadcast' }
  const totals = await mail.mailer().getDeliveryStats(filter)
  const counts = { sent: 1, bounced: 8, bounceRate: 12.5, spamComplaints: 2, smtpApiErrors: 5 }
  expect(totals).toMatchObject({ ...counts, spamComplaintsRate: 200 })
  expect(Object.keys(totals)).toHaveLength(17)
  const query = 'tag=a&fromdate=2020-01-01&todate=2999-12-31&messagestream=broadcast'
  expect(provider.calls.at(-1)?.path).toBe(`/stats/outbound?${query}`)
})
