import { inspect } from 'node:util'
import { IntegrationError } from '@org/core/errors'
import { expect, it } from 'vitest'
import { MailError } from '../src/index.ts'
import { toMailError } from '../src/mail-error.ts'
import type { MessageResult, UnsentResult } from '../src/result.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider } = mail

const common = { index: 0, to: 'ann@example.org', rejected: ['bob@example.org'] }
const sent: MessageResult = {
  ...{ ...common, status: 'sent', messageId: 'id', submittedAt: '2026-11-20T09:00:00Z', error: null },
}
const unsent = (status: UnsentResult['status']): MessageResult => ({
  ...{ ...common, status, messageId: null, submittedAt: null },
  error: { code: 'provider_rejected', message: 'It was refused.', retryable: false },
})
const result = (status: MessageResult['status']) => (status === 'sent' ? sent : unsent(status))
const shown = (error: unknown) => inspect(error, { depth: null }) + JSON.stringify(error)

it('lists the recipients that the provider refused, and shows them nowhere', async () => {
  for (const address of ['ann@example.org', 'bob@example.org']) provider.inactive.add(address)
  const error = await failureOf(mail.mailer().sendEmail(message({ cc: 'Bob <Bob@example.org>' })))
  if (!(error instanceof MailError)) expect.fail('expected a MailError')
  expect(error).toMatchObject({ code: 'provider_rejected', provider: { status: 422, code: '406' } })
  expect([error.rejected, error.results]).toEqual([['ann@example.org', 'Bob@example.org'], undefined])
  expect(Object.keys(error)).not.toContain('rejected')
  expect(shown(error)).not.toMatch(/@example/)
})

it('lists no recipients for another refusal', async () => {
  provider.faults.add({ status: 422, body: { ErrorCode: 300, Message: 'Bad ann@example.org' } })
  expect(await failureOf(mail.mailer().sendEmail(message()))).toMatchObject({ rejected: [] })
})

it('keeps what an error says, and carries results that it does not show', () => {
  const facts = { hint: 'Wait.', retryAfter: 7, errors: [{ path: 'to', message: 'is invalid' }] }
  const provider = { name: 'mailer', status: 429, code: '429', message: 'Slow down.' }
  const cause = new Error('cause')
  const given = new IntegrationError('provider_rate_limited', 'Too fast.', { ...facts, provider, cause })
  const results = [result('sent')]
  const error = toMailError(given, { results })
  const expected = { code: 'provider_rate_limited', message: 'Too fast.', retryable: true, effect: 'none' }
  expect(error).toMatchObject({ ...expected, ...facts, provider, cause })
  expect(error.stack).toBe(given.stack?.replace('IntegrationError', 'MailError'))
  expect(toMailError(error)).toMatchObject({ results })
  expect(shown(error)).not.toMatch(/@example/)
})

it.each([undefined, null, 'ann@example.org', new TypeError('x')])(
  'converts %s that the caller’s code throws',
  (thrown) => {
    const error = toMailError(thrown)
    expect([error.code, error.message.includes('@')]).toEqual(['internal_error', false])
  },
)

it('says what the provider said, with the addresses masked, and shows it word for word only to who asks', async () => {
  const Message =
    "JSON field 'Attachments[0].Name' was not valid: “Ann’s file”, sent by Ann <ann@example.org>."
  provider.faults.add({ status: 422, body: { ErrorCode: 300, Message } })
  const error = await failureOf(mail.mailer().sendEmail(message()))
  const masked = Message.replace('ann@example.org', '[address]')
  expect([error.provider?.message, error.message]).toEqual([
    masked,
    `The mail provider refused (code 300): ${masked}`,
  ])
  expect(error).toHaveProperty('providerMessage', Message)
  expect(shown(error)).not.toMatch(/@example/)
})
