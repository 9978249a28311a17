import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider, requests } = mail

it.each<[string, Message['to'], string]>([
  ['two parts', { name: 'Ada', address: 'ada@example.org' }, 'Ada <ada@example.org>'],
  ['a part alone', { address: 'ada@example.org' }, 'ada@example.org'],
  ['a name with quotes', { name: '"Ada"', address: 'ada@example.org' }, '"\\"Ada\\"" <ada@example.org>'],
  [
    'a name that looks like an address',
    { name: 'eve@example.org, x', address: 'ada@example.org' },
    '"eve@example.org, x" <ada@example.org>',
  ],
  ['both forms', ['a@b.c', { name: 'D', address: 'd@e.f' }], 'a@b.c, D <d@e.f>'],
  ['a domain in letters', 'ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['a domain in capital letters', 'Ada <ada@BÜCHER.example>', 'Ada <ada@xn--bcher-kva.example>'],
  ['a domain in two scripts', 'ada@почта.例え.example', 'ada@xn--80a1acny.xn--r8jz45g.example'],
])('sends to an address as %s', async (_what, to, expected) => {
  await mail.mailer().sendEmail(message({ to }))
  expect(provider.messages[0]?.raw.To).toBe(expected)
})

it.each<[string, string, string]>([
  ['letters before the @', 'žofie@example.org', 'only ASCII before the @'],
  ['a slash in its domain', 'a@bücher.example/x', 'domain'],
  ['a slash in its last letters', 'a@example.bücher/x', 'domain'],
  ['a percent sign in its domain', 'a@b%C3%BCcher.example', 'domain'],
  ['a question mark in its domain', 'a@bücher.example?x', 'domain'],
  ['a soft hyphen in its domain', 'a@bü\u00adcher.example', 'domain'],
  ['wide letters in its domain', 'a@ｅxample.org', 'domain'],
  ['wide digits as its domain', 'a@１２７.0.0.1', 'domain'],
  ['a wide dot in its domain', 'a@bücher。example', 'domain'],
  ['two dots in its domain', 'a@example..org', 'domain'],
  ['a hyphen before its domain', 'a@-example.org', 'domain'],
  ['another one before it', 'Ada <a@example.org> <b@example.org>', 'expected one address'],
  ['two dots in its domain in letters', 'a@bücher..org', 'domain'],
])('refuses an address with %s', async (_what, to, reason) => {
  const { errors } = await failureOf(mail.mailer().sendEmail(message({ to })))
  expect(errors).toEqual([{ path: 'to', message: expect.stringContaining(reason) }])
  expect(requests).toEqual([])
})

it('names the right field for an address with “email”', async () => {
  const to = [Object.assign({}, { name: 'Ada', email: 'ada@example.org' }, { address: undefined })]
  const { errors } = await failureOf(mail.mailer().sendEmail(Object({ ...message(), to })))
  expect(errors).toEqual([{ path: 'to[0]', message: expect.stringContaining('“address”, not “email”') }])
})
