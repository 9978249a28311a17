import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createShop } from '../examples/migration/shop.ts'
import { runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider } = mail
/** `DIGEST=80000 pnpm vitest run test/migration.test.ts`; the emulator keeps at most 100,000 messages to count. */
const CUSTOMERS = Number(process.env.DIGEST ?? 4_000)
const ada = { id: 1, name: 'Ada', email: 'ada@example.org' }
const logo = new Uint8Array([1, 2, 3])
const open = (database = new DatabaseSync(':memory:')) => createShop(mail.mailer(), database, logo)

it('sends a mail of React with an inline image, and an invoice beside it', async () => {
  await open().welcome(ada)
  await open().invoice(ada, '2026-7', new TextEncoder().encode('%PDF-1.7'))
  const html = expect.stringMatching(/<img.*src="cid:logo".*Hello Ada!/)
  const image = { name: 'logo.png', contentId: 'cid:logo', content: 'AQID' }
  expect(provider.messages).toMatchObject([
    { subject: 'Welcome', htmlBody: html, attachments: [image], tag: 'welcome' },
    { htmlBody: html, attachments: [image, { name: '2026-7.pdf' }], metadata: { invoice: '2026-7' } },
  ])
})

it('tells what became of the link to a new password', async () => {
  const tell = () => open().resetPassword(ada, 'https://shop.example/new')
  expect(await tell()).toBe('sent')
  provider.inactive.add(ada.email)
  expect(await tell()).toBe('inactive')
  provider.faults.add({ cut: 'after' }, { status: 429, headers: { 'retry-after': '100' } })
  expect([await tell(), await tell()]).toEqual(['look first', 'try again'])
})

it(`sends a digest of ${CUSTOMERS} once to everyone, though its process dies in the middle`, async () => {
  const database = new DatabaseSync(':memory:')
  const emailOf = (id: number | string) => `c${id}@example.org`
  const customers = Array.from({ length: CUSTOMERS }, (_, id) => ({ id, name: 'You', email: emailOf(id) }))
  const body = JSON.stringify({ RecordType: 'Bounce', Email: emailOf(7), Inactive: true })
  await open(database).onEvent(new Request('https://shop.example/mail', { method: 'POST', body }))
  const { signal } = new AbortController()
  // The third call has left, and its process learns nothing any more.
  const calls = mail.hold()
  void createShop(mail.serial({ fetch: calls.fetch }), database, logo).digest('week-7', customers, signal)
  for (const _ of [1, 2]) await calls.answer(1)
  await calls.arrived(1)

  const again = await open(database).digest('week-7', customers, signal)
  expect(again).toMatchObject({ unknown: 500, failed: 0, sent: CUSTOMERS - 1 - 500 })
  const known = new Set(provider.messages.flatMap(({ to }) => to))
  await open(database).digest('week-7', customers, signal, (key) => known.has(emailOf(key)))
  expect([provider.messages.length, mail.sentTwice()]).toEqual([CUSTOMERS - 1, 0])
})
