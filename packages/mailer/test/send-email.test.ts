import { describe, expect, it } from 'vitest'
import type { Message } from '../src/index.ts'
import { message, runMailProvider } from './support.ts'

const arrangement = runMailProvider()
const { provider, requests } = arrangement

const wire = {
  From: 'Shop <shop@example.com>',
  To: 'ann@example.org',
  Subject: 'Hello',
  TextBody: 'Hi Ann',
  MessageStream: 'outbound',
}

describe('a message on the wire', () => {
  it.each<[string, Partial<Message>, object]>([
    ['plain text', {}, wire],
    ['HTML', { textBody: undefined, htmlBody: '<p>Hi</p>' }, { TextBody: undefined, HtmlBody: '<p>Hi</p>' }],
    ['both bodies', { htmlBody: '<p>Hi</p>' }, { HtmlBody: '<p>Hi</p>' }],
    [
      'body, the other name for HTML',
      { textBody: undefined, body: '<p>Hi</p>' },
      {
        TextBody: undefined,
        HtmlBody: '<p>Hi</p>',
      },
    ],
    [
      'a sender of its own',
      { from: 'Help Desk <help@example.com>' },
      { From: 'Help Desk <help@example.com>' },
    ],
    [
      'lists of recipients',
      {
        to: ['ann@example.org', 'Bob <bob@example.org>'],
        cc: ['carl@example.org', 'dora@example.org'],
        bcc: ['eve@example.org'],
      },
      {
        To: 'ann@example.org, Bob <bob@example.org>',
        Cc: 'carl@example.org, dora@example.org',
        Bcc: 'eve@example.org',
      },
    ],
    ['empty lists', { cc: [], bcc: [], replyTo: [] }, {}],
    [
      'several addresses for answers',
      { replyTo: ['a@example.com', 'B <b@example.com>'] },
      {
        ReplyTo: 'a@example.com, B <b@example.com>',
      },
    ],
    [
      'a name with a comma',
      { to: 'Lovelace, Ada <ann@example.org>' },
      {
        To: '"Lovelace, Ada" <ann@example.org>',
      },
    ],
    [
      'a quoted name with quotes inside',
      { to: String.raw`"Ada \"the first\"" <ann@example.org>` },
      {
        To: String.raw`"Ada \"the first\"" <ann@example.org>`,
      },
    ],
    [
      'a name with a lonely quote',
      { to: 'Ada "the first <ann@example.org>' },
      {
        To: String.raw`"Ada \"the first" <ann@example.org>`,
      },
    ],
    [
      'other scripts and emoji',
      { to: 'Ädä 李 <ann@example.org>', subject: '🎉 Grüße', textBody: '你好 👋🏽' },
      {
        To: 'Ädä 李 <ann@example.org>',
        Subject: '🎉 Grüße',
        TextBody: '你好 👋🏽',
      },
    ],
    ['line breaks in a body', { textBody: 'one\r\ntwo' }, { TextBody: 'one\r\ntwo' }],
    [
      'tag and stream',
      { tag: 'welcome', messageStream: 'broadcast' },
      {
        Tag: 'welcome',
        MessageStream: 'broadcast',
      },
    ],
    [
      'headers and metadata',
      { headers: { 'X-Order': '7' }, metadata: { order: '7' } },
      {
        Headers: [{ Name: 'X-Order', Value: '7' }],
        Metadata: { order: '7' },
      },
    ],
    [
      'tracking',
      { trackOpens: false, trackLinks: 'HtmlOnly' },
      { TrackOpens: false, TrackLinks: 'HtmlOnly' },
    ],
    [
      'attachments, as bytes and as base64',
      {
        attachments: [
          { name: 'a.dat', content: new Uint8Array([0, 255, 16]), contentType: 'application/octet-stream' },
          { name: 'b.txt', content: 'SGk=', contentType: 'text/plain', contentId: 'cid:b' },
        ],
      },
      {
        Attachments: [
          { Name: 'a.dat', Content: 'AP8Q', ContentType: 'application/octet-stream' },
          { Name: 'b.txt', Content: 'SGk=', ContentType: 'text/plain', ContentID: 'cid:b' },
        ],
      },
    ],
  ])('holds %s', async (_what, fields, expected) => {
    await arrangement.mailer().sendEmail(message(fields))
    expect(requests.map(({ text }) => JSON.parse(text))).toEqual([{ ...wire, ...expected }])
    expect(provider.messages).toHaveLength(1)
  })

  it('takes a large attachment whole', async () => {
    const content = Uint8Array.from({ length: 100_001 }, (_, index) => index % 251)
    const attachments = [{ name: 'a.pdf', content, contentType: 'application/pdf' }]
    await arrangement.mailer().sendEmail(message({ attachments }))
    const sent = Buffer.from(provider.messages[0]?.attachments[0]?.content ?? '', 'base64')
    expect(sent.equals(content)).toBe(true)
  })

  it('goes as JSON, with the token, and asks for JSON', async () => {
    await arrangement.mailer().sendEmail(message())
    expect(requests.map(({ method, path }) => [method, path])).toEqual([['POST', '/email']])
    expect(Object.fromEntries(requests[0]?.headers ?? [])).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
      'x-mailer-server-token': 'server-token',
    })
  })

  it('carries the provider’s own name for the token to the provider itself alone', async () => {
    const seen: [string, string | null][] = []
    const fetch: typeof globalThis.fetch = (input, init) => {
      const request = new Request(input, init)
      seen.push([new URL(request.url).host, request.headers.get('x-postmark-server-token')])
      return provider.fetch(request)
    }
    await arrangement.mailer({ fetch, baseUrl: undefined }).sendEmail(message())
    await arrangement.mailer({ fetch, baseUrl: 'https://mail.example.com' }).sendEmail(message())
    expect(seen).toEqual([
      ['api.postmarkapp.com', 'server-token'],
      ['mail.example.com', null],
    ])
  })

  it('takes the stream that the mailer was made with', async () => {
    await arrangement.mailer({ messageStream: 'broadcast' }).sendEmail(message())
    expect(provider.messages).toMatchObject([{ messageStream: 'broadcast' }])
  })

  it('is not changed by being sent', async () => {
    const frozen = Object.freeze(
      message({ to: Object.freeze(['ann@example.org']), headers: Object.freeze({ 'X-A': 'b' }) }),
    )
    const before = structuredClone(frozen)
    await arrangement.mailer().sendEmail(frozen)
    expect(frozen).toEqual(before)
  })
})

describe('the result', () => {
  it('names the message, the time in UTC and the recipients', async () => {
    const result = await arrangement
      .mailer()
      .sendEmail(message({ to: ['Ann <ann@example.org>', 'bob@example.org'] }))
    expect(result).toEqual({
      messageId: provider.messages[0]?.messageId,
      submittedAt: new Date(provider.messages[0]?.submittedAt ?? '').toISOString(),
      to: 'Ann <ann@example.org>, bob@example.org',
      rejected: [],
      notice: null,
    })
  })

  it.each(['short', 'long'] as const)(
    'names who was left out, in the provider’s %s wording',
    async (wording) => {
      provider.settings.inactiveWording = wording
      for (const address of ['gone@example.org', 'o’neil@example.org', "o'neil@example.org"])
        provider.inactive.add(address)
      const result = await arrangement
        .mailer()
        .sendEmail(
          message({ to: ['Ann <ann@example.org>', 'Gone@Example.org'], cc: "O'Neil <o'neil@example.org>" }),
        )
      expect(result.rejected).toEqual(['Gone@Example.org', "o'neil@example.org"])
    },
  )

  it('names who was left out as the message names them, however the provider writes it', async () => {
    const Message = 'Message OK, but will not deliver to: <GONE@Example.org>; Left@example.org.'
    provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1', Message } })
    const to = ['ann@example.org', 'gone@example.org', 'left@example.org']
    const { rejected } = await arrangement.mailer().sendEmail(message({ to }))
    expect(rejected).toEqual(['gone@example.org', 'left@example.org'])
  })

  it('stands in for what the provider left out of its answer', async () => {
    provider.faults.add({ status: 200, body: { ErrorCode: 0, MessageID: 'id-1' } })
    const result = await arrangement.mailer().sendEmail(message())
    expect(result).toMatchObject({ messageId: 'id-1', to: 'ann@example.org', rejected: [] })
    expect(Date.parse(result.submittedAt)).not.toBeNaN()
  })
})

it('a token is taken without the line break that a file ends with', async () => {
  await arrangement.mailer({ apiToken: ' server-token\n' }).sendEmail(message())
  expect(requests[0]?.headers.get('x-mailer-server-token')).toBe('server-token')
})
