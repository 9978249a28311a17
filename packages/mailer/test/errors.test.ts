import { inspect } from 'node:util'
import type { Fault } from '@org/core/testing'
import { expect, it } from 'vitest'
import { type IntegrationError, isMailError } from '../src/index.ts'
import { deadUrl, failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests, waits } = mail

/** Sends one message, and checks that the error shows no address, no text of the message and no token. */
async function fail(mailer = mail.mailer()): Promise<IntegrationError> {
  const secretly = message({ to: 'ann@example.org', cc: 'Bob <Bob@example.org>', textBody: 'private words' })
  const error = await failureOf(mailer.sendEmail(secretly))
  expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toMatch(
    /@example|private words|server-token/i,
  )
  return error
}

const limited = { code: 'provider_rate_limited', status: 429, retryable: true, effect: 'none' }
const notNow = { code: 'provider_error', retryable: true, effect: 'none' }
const Message = "Found ann@example.org, 'bob@example.org' and Shop <shop@example.com>: server-token."
const words = 'Found [address], [address] and Shop <[address]>: [token].'
const said = Message.replace('server-token', '[token]')
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
  expect([error.providerMessage, error.rejected, error.results]).toEqual([said, rejected, undefined])
  expect(requests).toHaveLength(1)
})

const refused = { code: 'credentials_rejected', status: 401, retryable: false, effect: 'none' }
const hint = expect.stringContaining('Server API Token')
const later = { 'retry-after': '90' }
it.each<[string, Fault, object]>([
  ['a refused token', { status: 401 }, { ...refused, hint, provider: { status: 401, code: '10' } }],
  ['a page with 401', { html: true, status: 401 }, { message: expect.stringContaining('base URL') }],
  ['maintenance', { status: 503, headers: later, body: refusal(100) }, { retryAfter: 90 }],
  ['maintenance with 422', { status: 422, body: refusal(100) }, { provider: { code: '100', status: 422 } }],
  ['a long rate limit', { status: 429, headers: later }, { ...limited, retryAfter: 90 }],
])('a mail had no effect, and is not retried, after %s', async (_, fault, expected) => {
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
  expect(await fail(mail.mailer({ baseUrl: await deadUrl() }))).toMatchObject({ ...notNow, ...facts })
  expect(waits).toHaveLength(2)
})

it.each<[string, Fault, number, number]>([
  ['the status is 500 with a code', { status: 500, body: refusal(300), takesEffect: true }, 500, 1],
  ['a gateway says 503', { status: 503, headers: { 'retry-after': '5' } }, 503, 0],
  ['the response has no id', { status: 200, body: { ErrorCode: 0, MessageID: '' } }, 200, 0],
  ['the response has an endless id', { status: 200, body: { MessageID: 'i'.repeat(501) } }, 200, 0],
  ['the response is about somebody else', { status: 200, body: { MessageID: '1', To: 'x@y.z' } }, 200, 0],
])('a mail has an unknown fate, and none leaves before a read succeeds, if %s', async (...row) => {
  const [, fault, status, accepted] = row
  provider.faults.add(fault, { path: '/server', status: 502 })
  const unknown = { code: 'outcome_unknown', retryable: false, effect: 'unknown', retryAfter: undefined }
  const provided = { provider: { name: 'mailer', status }, status, hint: expect.any(String) }
  const mailer = mail.mailer()
  expect(await fail(mailer)).toMatchObject({ ...unknown, ...provided })
  expect([requests.length, provider.messages.length, waits]).toEqual([1, accepted, []])
  expect(await fail(mailer)).toMatchObject(notNow)
  expect(requests.slice(1)).toMatchObject([{ path: '/server' }])
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
  provider.faults.add({ status: 200, body: {} })
  const elsewhere = await failureOf(mail.mailer().getDeliveryStats())
  expect(elsewhere).toMatchObject({ ...notNow, message: expect.stringContaining('check the base URL') })
})
