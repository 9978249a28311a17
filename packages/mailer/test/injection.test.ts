import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { isIntegrationError, type Message } from '../src/index.ts'
import { runMailProvider } from './support.ts'

const mail = runMailProvider()
const { requests } = mail

const letters = ['\r', '\n', '\u0085', '\u2028', ' ', '"', '\\', '<', '>', ',', ':', '@', 'a']
const hostile = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...letters), maxLength: 6 }),
  fc.constantFrom('\r\nBcc: eve@example.org', ', eve@example.org', '> , <eve@example.org'),
)
// Most fields are harmless, so that many messages leave in which only one field is hostile.
const mostly = <Value>(harmless: Value, ...others: fc.Arbitrary<Value>[]) =>
  fc.oneof({ arbitrary: fc.constant(harmless), weight: 8 }, ...others)
const two = fc.tuple(hostile, hostile)
const named = hostile.map((name) => `${name} <a@example.org>`)
const address = mostly(
  'A <a@example.org>',
  hostile,
  two.map(([before, after]) => `${before} <a@example.org>${after}`),
  two.map(([before, after]) => `"${before}" <a${after}@example.org>`),
)
const few = fc.array(fc.oneof(address, named), { maxLength: 3 })

const messages: fc.Arbitrary<Message> = fc.record(
  {
    to: fc.oneof(address, named, fc.array(address, { minLength: 1, maxLength: 3 })),
    subject: mostly('Hello', hostile),
    textBody: fc.constant('Hi'),
    from: address,
    cc: fc.oneof(address, few),
    bcc: few,
    replyTo: few,
    tag: mostly('welcome', hostile),
    headers: fc.dictionary(mostly('X-Order', hostile), mostly('7', hostile), { maxKeys: 2 }),
  },
  { requiredKeys: ['to', 'subject', 'textBody'] },
)

/** Counts the addresses in a header, as RFC 5322 reads it: a comma inside quotes does not separate. */
function countAddresses(header = ''): number {
  const bare = header.replaceAll(/"(?:\\.|[^"\\])*"/g, 'name')
  return bare === '' ? 0 : bare.split(',').length
}

it('sends no line break and no additional address in a header, whatever the fields hold', async () => {
  const mailer = mail.mailer()
  let left = 0
  await fc.assert(
    fc.asyncProperty(messages, async (message) => {
      requests.length = 0
      await mailer.sendEmail(message).catch((error: unknown) => {
        if (!isIntegrationError(error)) throw error
      })
      for (const { text } of requests) {
        left += 1
        const head = JSON.parse(text, (_name, value) => {
          if (typeof value === 'string') expect(value).not.toMatch(/[\r\n]/)
          return value
        })
        const { to, cc, bcc, replyTo } = message
        expect([head.From, head.To, head.Cc, head.Bcc, head.ReplyTo].map(countAddresses)).toEqual(
          ['from@example.org', to, cc, bcc, replyTo].map((given) => [given || []].flat().length),
        )
      }
    }),
    { numRuns: 1_000 },
  )
  // The property would also hold if no message ever left.
  expect(left).toBeGreaterThan(100)
})
