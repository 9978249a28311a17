import { inspect } from 'node:util'
import { IntegrationError } from '@org/core/errors'
import * as fc from 'fast-check'
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
  const error = toMailError(given, { results, rejected: ['bob@example.org'] })
  const expected = { code: 'provider_rate_limited', message: 'Too fast.', retryable: true, effect: 'none' }
  expect(error).toMatchObject({ ...expected, ...facts, provider, cause, stack: given.stack })
  expect(error).toMatchObject({ results, rejected: ['bob@example.org'] })
  expect(toMailError(error)).toMatchObject({ results, rejected: ['bob@example.org'] })
  expect(shown(error)).not.toMatch(/@example/)
})

it.each([undefined, null, 'ann@example.org', new TypeError('x')])(
  'converts %s that the caller’s code throws',
  (thrown) => {
    const error = toMailError(thrown)
    expect([error.code, error.message.includes('@')]).toEqual(['internal_error', false])
  },
)

it.each([
  ['failed', true, 'none'],
  ['sent', false, 'unknown'],
  ['unknown', false, 'unknown'],
] as const)('after a message that is %s, may be retried: %s', (status, retryable, effect) => {
  expect(toMailError(undefined, { results: [result(status)] })).toMatchObject({ retryable, effect })
})

const value = fc
  .oneof(
    fc.string({ minLength: 4, maxLength: 20 }),
    fc.string({ unit: 'grapheme', minLength: 4, maxLength: 12 }),
    fc
      .array(fc.string({ unit: fc.constantFrom(...'abdegklmorstvzäößžИ李 .-_\'"'), minLength: 3 }), {
        minLength: 1,
      })
      .map((words) => words.join(' ')),
  )
  .map((text) => text.trim())
  // Marks alone name nobody, and numbers of two digits are the provider’s limits.
  .filter((text) => /\p{L}{2}|\p{L}.*\d/u.test(text))
const prose: ((value: string) => string)[] = [
  (name) => `Error parsing 'To': Illegal email address '${name} <ada@example.org>'.`,
  (name) => `Invalid 'From' address: '"${name}" <ada@example.org>'.`,
  (name) =>
    `Found inactive addresses: ${name} <ada@example.org>, bob@example.org. Inactive recipients are ones that …`,
  (name) => `Attachment file type not allowed. Files: ${name}.exe, b.exe`,
  (name) => `The content of attachment '${name}' is not base64.`,
  (name) => `Header '${name}' not allowed.`,
  (name) => `${name} is not a Sender Signature on your account.`,
  (name) => `The subject “${name}” (${name}) exceeds [${name}] ${name}`,
]
const longWords = (text: string) =>
  [...text.toLowerCase().matchAll(/[\p{L}\p{N}\p{M}]{4,}/gu)].map(([word]) => word)

it('shows no name, file name, subject or address that the provider quotes', async () => {
  const codes = fc.constantFrom(300, 406, 411, 99)
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom(...prose), codes, async (name, say, ErrorCode) => {
      provider.faults.add({ status: 422, body: { ErrorCode, Message: say(name) } })
      const { message: text, hint, provider: refusal } = await failureOf(mail.mailer().sendEmail(message()))
      const shownWords = longWords(`${text} ${hint} ${refusal?.message}`)
      // `name` is a word of the provider, and one that fast-check likes to try.
      const ours = longWords(`mail provider refused code name ${say('')} ${hint}`)
      expect(longWords(name).filter((word) => shownWords.includes(word) && !ours.includes(word))).toEqual([])
      expect(text + refusal?.message).not.toContain('@')
    }),
  )
})

it.each([
  ['percent', (text: string) => text.replaceAll(/./g, (one) => `%${one.charCodeAt(0).toString(16)}`)],
  ['decimal HTML', (text: string) => text.replaceAll(/./g, (one) => `&#${one.charCodeAt(0)};`)],
  ['no', (text: string) => text],
])('shows nothing of a token that the provider quotes with %s escapes', async (_what, spell) => {
  const token = 'aZ09-Secret_Token-12.mail'
  provider.faults.add({
    status: 422,
    body: { ErrorCode: 300, Message: `Invalid token: ${spell(token)} is not valid.` },
  })
  const error = await failureOf(mail.mailer().sendEmail(message()))
  expect(error.provider?.message).toBe('Invalid token: […] is not valid.')
})

it('shows no value that the provider quotes, even in words of its own, but the names of fields', async () => {
  const Message = "The 'Subject' field contains “your account was confirmed”, and 'spam' is not a valid tag."
  provider.faults.add({ status: 422, body: { ErrorCode: 300, Message } })
  const error = await failureOf(mail.mailer().sendEmail(message()))
  expect(error.provider?.message).toBe("The 'Subject' field contains […], and […] is not a valid tag.")
})
