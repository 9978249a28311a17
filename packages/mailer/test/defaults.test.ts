import { expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { failureOf, message, runMailProvider } from './support.ts'

const mail = runMailProvider()
const { requests } = mail

const defaults = {
  tag: 'shop',
  replyTo: { name: 'Help', address: 'help@example.com' },
  headers: { 'X-Shop': 'books', Precedence: 'bulk' },
  metadata: { shop: 'books', region: 'eu' },
  trackOpens: true,
  trackLinks: 'HtmlOnly',
} as const

const sent = () => JSON.parse(requests[0]?.text ?? '')

it('fills in the defaults of the mailer', async () => {
  await mail.mailer({ defaults }).sendEmail(message())
  expect(sent()).toMatchObject({
    Tag: 'shop',
    ReplyTo: 'Help <help@example.com>',
    Headers: [
      { Name: 'X-Shop', Value: 'books' },
      { Name: 'Precedence', Value: 'bulk' },
    ],
    Metadata: { shop: 'books', region: 'eu' },
    TrackOpens: true,
    TrackLinks: 'HtmlOnly',
  })
})

it('prefers the fields of the message, and merges headers and metadata by name', async () => {
  const fields: Partial<Message> = {
    tag: 'order',
    replyTo: 'sales@example.com',
    headers: { 'x-shop': 'music' },
    metadata: { shop: 'music' },
    trackOpens: false,
    trackLinks: 'None',
  }
  await mail.mailer({ defaults }).sendEmail(message(fields))
  expect(sent()).toMatchObject({
    Tag: 'order',
    ReplyTo: 'sales@example.com',
    Headers: [
      { Name: 'x-shop', Value: 'music' },
      { Name: 'Precedence', Value: 'bulk' },
    ],
    Metadata: { shop: 'music', region: 'eu' },
    TrackOpens: false,
    TrackLinks: 'None',
  })
})

it('checks the defaults like the message', async () => {
  const mailer = mail.mailer({ defaults: { headers: { Bcc: 'eve@example.org' } } })
  expect((await failureOf(mailer.sendEmail(message()))).errors).toMatchObject([{ path: 'headers.Bcc' }])
})

const optional = [
  'from',
  'cc',
  'bcc',
  'replyTo',
  'tag',
  'messageStream',
  'htmlBody',
  'body',
  'trackLinks',
] as const
it.each<[string, unknown]>([
  ...optional.flatMap((name): [string, unknown][] => [
    [name, ''],
    [name, null],
  ]),
  ['cc', []],
  ['replyTo', []],
  ['headers', { 'X-A': '' }],
  ['metadata', { order: '' }],
  ['attachments', []],
])('counts %s as absent if it is %j', async (name, empty) => {
  const mailer = mail.mailer({ defaults: { replyTo: 'help@example.com', tag: 'shop' } })
  await mailer.sendEmail(message())
  await mailer.sendEmail(Object.assign(message(), { [name]: empty }))
  const [one, other] = requests.map(({ text }) => JSON.parse(text))
  expect(other).toEqual(one)
})
