import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createShop } from '../examples/migration/shop.ts'
import { runMailProvider } from './support.ts'

const mail = runMailProvider()
const { provider } = mail
/** `DIGEST=80000 pnpm vitest run test/migration.test.ts` */
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
  const link = 'https://shop.example/new'
  expect(await open().resetPassword(ada, link)).toBe('sent')
  provider.inactive.add(ada.email)
  expect(await open().resetPassword(ada, link)).toBe('inactive')
  provider.faults.add({ cut: 'after' }, { status: 429, headers: { 'retry-after': '100' } })
  expect(await open().resetPassword(ada, link)).toBe('look first')
  expect(await open().resetPassword(ada, link)).toBe('try again')
})

it(`sends a digest of ${CUSTOMERS} once to everyone, though its process dies in the middle`, async () => {
  const database = new DatabaseSync(':memory:')
  const customers = Array.from({ length: CUSTOMERS }, (_, id) => ({
    id,
    name: 'You',
    email: `c${id}@example.org`,
  }))
  const bounce = { RecordType: 'Bounce', Email: 'c7@example.org', Inactive: true }
  await open(database).onEvent(
    new Request('https://shop.example/mail', { method: 'POST', body: JSON.stringify(bounce) }),
  )
  const { signal } = new AbortController()
  // The third call has left, and its process learns nothing any more.
  const calls = mail.hold()
  const dying = createShop(mail.mailer({ fetch: calls.fetch, concurrency: 1 }), database, logo)
  void dying.digest('week-7', customers, signal)
  for (const _ of [1, 2]) await calls.answer(1)
  await calls.arrived(1)
  expect(provider.messages).toHaveLength(1_000)

  const again = await open(database).digest('week-7', customers, signal)
  expect(again).toMatchObject({ unknown: 500, failed: 0, sent: CUSTOMERS - 1 - 500 })
  const sent = () => provider.messages.map(({ to }) => String(to))
  const activity = new Set(sent())
  const found = (key: string) => activity.has(`c${key}@example.org`)
  await open(database).digest('week-7', customers, signal, found)
  expect(sent()).toHaveLength(CUSTOMERS - 1)
  expect(new Set(sent()).size).toBe(CUSTOMERS - 1)
})
