import { type Served, serve } from '@org/core/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createMailProvider, type WireMessage } from '../src/testing/index.ts'

const MEBIBYTE = 1024 * 1024
const whyInactive =
  'Inactive recipients are ones that have generated a hard bounce, a spam complaint, or a manual suppression.'

const provider = createMailProvider()
let server: Served

beforeEach(async () => {
  provider.reset()
  server = await serve(provider.fetch)
})

afterEach(() => server.close())

const json = {
  accept: 'application/json',
  'content-type': 'application/json',
  'x-mailer-server-token': 'server-token',
}

function message(fields: object = {}): object {
  return {
    From: 'Shop <shop@example.com>',
    To: 'ann@example.org',
    Subject: 'Hello',
    TextBody: 'Hi',
    ...fields,
  }
}

function post(path: string, body: unknown, headers: Record<string, string> = json) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(server.url + path, { method: 'POST', headers, body: text })
}

function get(path: string, headers: Record<string, string> = json) {
  return fetch(server.url + path, { headers })
}

/** Sends one message, and reads the answer. */
async function send(fields: object = {}): Promise<{ status: number; body: unknown }> {
  const answer = await post('/email', message(fields))
  return { status: answer.status, body: await answer.json() }
}

const refused = (ErrorCode: number, words: RegExp | string) => ({
  status: 422,
  body: { ErrorCode, Message: typeof words === 'string' ? words : expect.stringMatching(words) },
})

describe('POST /email', () => {
  it('accepts a message, and answers with its id', async () => {
    expect(await send({ To: 'Ann <ann@example.org>, bob@example.org' })).toEqual({
      status: 200,
      body: {
        To: 'Ann <ann@example.org>, bob@example.org',
        SubmittedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{7}-05:00$/),
        MessageID: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
        ErrorCode: 0,
        Message: 'OK',
      },
    })
  })

  it('keeps everything that was sent', async () => {
    const raw: WireMessage = {
      From: 'Shop <shop@example.com>',
      To: '"Ann, the first" <ann@example.org>, bob@example.org',
      Cc: 'Carl <carl@example.org>',
      Bcc: 'dora@example.org',
      ReplyTo: 'help@example.com',
      Subject: 'Grüße',
      HtmlBody: '<p>Hi</p>',
      TextBody: 'Hi',
      Tag: 'welcome',
      MessageStream: 'broadcast',
      Headers: [{ Name: 'X-Order', Value: '7' }],
      Metadata: { order: '7' },
      Attachments: [{ Name: 'a.txt', Content: 'SGk=', ContentType: 'text/plain', ContentID: null }],
      TrackOpens: true,
      TrackLinks: 'HtmlOnly',
    }
    const answer = await post('/email', raw)
    const { MessageID, SubmittedAt } = await answer.json()
    expect(provider.messages).toEqual([
      {
        messageId: MessageID,
        submittedAt: SubmittedAt,
        from: 'Shop <shop@example.com>',
        to: ['ann@example.org', 'bob@example.org'],
        cc: ['carl@example.org'],
        bcc: ['dora@example.org'],
        inactive: [],
        subject: 'Grüße',
        htmlBody: '<p>Hi</p>',
        textBody: 'Hi',
        replyTo: 'help@example.com',
        tag: 'welcome',
        messageStream: 'broadcast',
        headers: [{ name: 'X-Order', value: '7' }],
        metadata: { order: '7' },
        attachments: [{ name: 'a.txt', contentType: 'text/plain', contentId: undefined, content: 'SGk=' }],
        trackOpens: true,
        trackLinks: 'HtmlOnly',
        raw,
      },
    ])
  })

  it('fills in what was not sent', async () => {
    await send({ Cc: null, Tag: '' })
    expect(provider.messages).toMatchObject([
      {
        cc: [],
        bcc: [],
        htmlBody: undefined,
        replyTo: undefined,
        tag: undefined,
        messageStream: 'outbound',
        headers: [],
        metadata: {},
        attachments: [],
        trackOpens: false,
        trackLinks: 'None',
      },
    ])
  })

  it('takes a subject that is missing', async () => {
    expect(await send({ Subject: undefined })).toMatchObject({ status: 200 })
  })

  it('writes the time as the provider does', async () => {
    const clock = createMailProvider({ now: () => new Date('2026-11-20T12:25:01.417Z') })
    const body = JSON.stringify(message())
    const answer = await clock.fetch('http://mail.invalid/email', { method: 'POST', headers: json, body })
    expect(await answer.json()).toMatchObject({ SubmittedAt: '2026-11-20T07:25:01.4170001-05:00' })
  })

  it('says the code of a refusal in a header, too', async () => {
    const answer = await post('/email', message({ To: '' }))
    expect(answer.headers.get('x-pm-apierrorcode')).toBe('300')
  })
})

describe('a message is refused', () => {
  it.each([
    [300, { From: undefined }, "Invalid 'From' address: ''."],
    [300, { From: 'a@b.c, d@e.f' }, "Invalid 'From' address: 'a@b.c, d@e.f'."],
    [
      300,
      { From: 'shop' },
      "Error parsing 'From': Illegal email address 'shop'. It must contain the '@' symbol.",
    ],
    [300, { To: undefined }, 'Zero recipients specified'],
    [300, { To: ' , ' }, 'Zero recipients specified'],
    [300, { To: '', Bcc: 'a@b.c' }, "Invalid 'To' address: ''."],
    [300, { To: 'ann' }, "Error parsing 'To': Illegal email address 'ann'. It must contain the '@' symbol."],
    [
      300,
      { To: 'ann@exa mple.org' },
      "Error parsing 'To': Illegal email domain 'exa mple.org' in address 'ann@exa mple.org'.",
    ],
    [
      300,
      { To: 'Ann <a nn@b.c>' },
      "Error parsing 'To': Illegal email mailbox 'a nn' in address 'a nn@b.c'.",
    ],
    [300, { To: 'ann..lee@b.c' }, /Illegal email mailbox 'ann\.\.lee'/],
    [300, { To: 'ann@b.c\r\nBcc: x@y.z' }, /^Error parsing 'To'/],
    [300, { Cc: 'ann' }, /^Error parsing 'Cc'/],
    [300, { Bcc: 'ann' }, /^Error parsing 'Bcc'/],
    [300, { ReplyTo: 'ann' }, /^Error parsing 'ReplyTo'/],
    [300, { TextBody: undefined }, 'Provide either email TextBody or HtmlBody or both.'],
    [300, { TextBody: '', HtmlBody: null }, 'Provide either email TextBody or HtmlBody or both.'],
    [300, { Subject: 'a\nb' }, /'Subject' contains a line break/],
    [300, { Tag: 'a\rb' }, /'Tag' contains a line break/],
    [300, { Headers: [{ Name: 'X-A', Value: 'a\r\nX-B: b' }] }, /header contains a line break/],
    [300, { Headers: [{ Name: ' ', Value: 'a' }] }, /header has no name/],
    [300, { Subject: 'x'.repeat(2001) }, /'Subject' field exceeds/],
    [300, { Tag: 'x'.repeat(1001) }, /'Tag' field exceeds/],
    [300, { From: `${'x'.repeat(255)} <a@b.c>` }, /'From' field exceeds/],
    [
      300,
      { Metadata: Object.fromEntries([...Array(11).keys()].map((key) => [`k${key}`, 'v'])) },
      /at most 10 fields/,
    ],
    [300, { Metadata: { ['k'.repeat(21)]: 'v' } }, /metadata name .* exceeds 20 characters/],
    [300, { Metadata: { k: 'v'.repeat(81) } }, /metadata value of 'k' exceeds 80 characters/],
    [300, { Metadata: { key: 'a', KEY: 'b' } }, /differ in more than their case/],
    [300, { Attachments: [{ Name: 'a.txt', Content: 'ä', ContentType: 'text/plain' }] }, /is not base64/],
    [
      411,
      { Attachments: [{ Name: 'a.EXE', Content: '', ContentType: 'text/plain' }] },
      'Attachment file type not allowed.',
    ],
    [1235, { MessageStream: 'other' }, "The stream provided: 'other' does not exist on this server."],
    [1236, { MessageStream: 'inbound' }, 'Sending is not supported for this stream type.'],
  ])('with %i: %j', async (code, fields, words) => {
    expect(await send(fields)).toEqual(refused(code, words))
    expect(provider.messages).toEqual([])
  })

  it.each([
    ['TextBdy', { TextBdy: 'typo' }],
    ['to', { to: 'ann@example.org' }],
    ['To', { To: ['ann@example.org'] }],
    ['TrackOpens', { TrackOpens: 'true' }],
    ['TrackLinks', { TrackLinks: 'All' }],
    ['Headers', { Headers: { 'X-A': 'a' } }],
    ['Headers[1].Value', { Headers: [{ Name: 'a', Value: 'b' }, { Name: 'a' }] }],
    ['Headers[0]', { Headers: ['X-A: a'] }],
    ['Metadata', { Metadata: [] }],
    ['Metadata.n', { Metadata: { n: 1 } }],
    ['Attachments[0].ContentType', { Attachments: [{ Name: 'a.txt', Content: '' }] }],
    [
      'Attachments[0].ContentId',
      { Attachments: [{ Name: 'a', Content: '', ContentType: 'b', ContentId: 'c' }] },
    ],
  ])('with 403 where a field has a wrong name or type: %s', async (path, fields) => {
    expect(await send(fields)).toEqual(refused(403, `Invalid request field(s): '${path}'.`))
  })

  it.each([
    [50, 200],
    [51, 422],
  ])('beyond 50 recipients, To, Cc and Bcc together: %i', async (count, status) => {
    const addresses = [...Array(count - 2).keys()].map((index) => `a${index}@example.org`).join()
    const answer = await send({ To: 'to@example.org', Cc: addresses, Bcc: 'bcc@example.org' })
    expect(answer.status).toBe(status)
    if (status === 422)
      expect(answer).toEqual(refused(300, 'Exceeded the maximum of 50 recipients per message.'))
  })

  it.each(['HtmlBody', 'TextBody'])(
    'where its %s is over 5 MB, in bytes and not in characters',
    async (field) => {
      const umlauts = 'ü'.repeat(2.5 * MEBIBYTE)
      expect(await send({ TextBody: undefined, [field]: umlauts })).toMatchObject({ status: 200 })
      expect(await send({ [field]: `${umlauts}!` })).toEqual(
        refused(300, new RegExp(`'${field}' field exceeds`)),
      )
    },
  )

  it('with HTTP 413 where the request is over 10 MB', async () => {
    const Attachments = [{ Name: 'a.bin2', Content: 'A'.repeat(10 * MEBIBYTE), ContentType: 'text/plain' }]
    expect((await post('/email', message({ Attachments }))).status).toBe(413)
  })

  it('with 402 where it is not JSON', async () => {
    const answer = await post('/email', '{"From":')
    expect([answer.status, await answer.json()]).toEqual([422, { ErrorCode: 402, Message: 'Invalid JSON.' }])
  })

  it.each(['[]', '"text"', 'null'])('with 403 where it is not an object: %s', async (body) => {
    const answer = await post('/email', body)
    expect([answer.status, await answer.json()]).toMatchObject([422, { ErrorCode: 403 }])
  })
})

describe('the sender', () => {
  it('must be confirmed, as an address or by its domain', async () => {
    provider.settings.senders = ['Shop@example.com', 'shop.example']
    expect(await send({ From: 'Shop <SHOP@example.com>' })).toMatchObject({ status: 200 })
    expect(await send({ From: 'any@shop.example' })).toMatchObject({ status: 200 })
    expect(await send({ From: 'Eve <eve@evilshop.example>' })).toEqual(
      refused(
        400,
        /^The 'From' address you supplied \(Eve <eve@evilshop\.example>\) is not a Sender Signature/,
      ),
    )
  })

  it('is refused with 401 where it waits for its confirmation', async () => {
    provider.settings.unconfirmedSenders = ['shop@example.com']
    expect(await send()).toEqual(refused(401, /not been confirmed/))
  })
})

describe('the account', () => {
  it.each([
    ['out-of-credits', 405, /credits/],
    ['blocked', 413, 'This account is not approved to send email.'],
    ['pending', 412, /same domain as the From address/],
  ] as const)('may be %s: code %i', async (account, code, words) => {
    provider.settings.account = account
    expect(await send()).toEqual(refused(code, words))
  })

  it('may write to its own domain while it is pending', async () => {
    provider.settings.account = 'pending'
    expect(await send({ To: 'ann@EXAMPLE.com' })).toMatchObject({ status: 200 })
  })
})

describe('inactive recipients', () => {
  beforeEach(() => {
    provider.inactive.add('gone@example.org').add('left@example.org')
  })

  it('are refused with 406 where there are no others', async () => {
    expect(await send({ To: 'Gone@example.org', Bcc: 'left@example.org' })).toEqual(
      refused(
        406,
        'You tried to send to recipient(s) that have been marked as inactive. ' +
          `Found inactive addresses: gone@example.org, left@example.org. ${whyInactive}`,
      ),
    )
    expect(provider.messages).toEqual([])
  })

  it('are refused in other words in a batch', async () => {
    const answer = await post('/email/batch', [message({ To: 'gone@example.org' })])
    expect([answer.status, await answer.json()]).toEqual([
      200,
      [
        {
          ErrorCode: 406,
          Message:
            'You tried to send to a recipient that has been marked as inactive. ' +
            `Found inactive addresses: gone@example.org. ${whyInactive} `,
        },
      ],
    ])
  })

  it.each([
    ['short', ''],
    ['long', `. ${whyInactive}`],
  ] as const)('are left out where there are others, in %s words', async (wording, rest) => {
    provider.settings.inactiveWording = wording
    const found =
      'Message OK, but will not deliver to these inactive addresses: gone@example.org, left@example.org'
    expect(await send({ To: 'ann@example.org, gone@example.org', Cc: 'left@example.org' })).toMatchObject({
      status: 200,
      body: { ErrorCode: 0, Message: found + rest, To: 'ann@example.org, gone@example.org' },
    })
    expect(provider.messages).toMatchObject([{ inactive: ['gone@example.org', 'left@example.org'] }])
  })

  it('are those to whom a message bounced', async () => {
    const To = 'HardBounce@bounce-testing.postmarkapp.com'
    expect(await send({ To })).toMatchObject({ status: 200 })
    expect(await send({ To })).toMatchObject({ status: 422, body: { ErrorCode: 406 } })
  })
})

describe('POST /email/batch', () => {
  it('answers in the same order, with code and words alone for what failed', async () => {
    const answer = await post('/email/batch', [
      message({ Tag: 'first' }),
      message({ To: 'nobody' }),
      message({ Typo: 1 }),
      null,
      message({ Tag: 'last' }),
    ])
    expect(answer.status).toBe(200)
    const items = await answer.json()
    expect(items).toEqual([
      expect.objectContaining({ ErrorCode: 0, Message: 'OK', To: 'ann@example.org' }),
      { ErrorCode: 300, Message: expect.stringContaining("'nobody'") },
      { ErrorCode: 403, Message: "Invalid request field(s): 'Typo'." },
      { ErrorCode: 403, Message: expect.any(String) },
      expect.objectContaining({ ErrorCode: 0, Message: 'OK', To: 'ann@example.org' }),
    ])
    expect(provider.messages.map(({ tag }) => tag)).toEqual(['first', 'last'])
    expect(provider.messages.map(({ messageId }) => messageId)).toEqual([
      items[0].MessageID,
      items[4].MessageID,
    ])
  })

  it('takes 500 messages, and refuses 501 with 410', async () => {
    const messages = Array.from({ length: 500 }, () => message())
    expect((await post('/email/batch', messages)).status).toBe(200)
    const answer = await post('/email/batch', [...messages, message()])
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { ErrorCode: 410, Message: 'You may only send up to 500 messages in a single batched request.' },
    ])
    expect(provider.messages).toHaveLength(500)
  })

  it('refuses a request over 50 MB with HTTP 413', async () => {
    const body = JSON.stringify([message()]).padEnd(50 * MEBIBYTE + 1)
    expect((await post('/email/batch', body)).status).toBe(413)
    expect(provider.messages).toEqual([])
  })

  it('refuses the one message that is over 10 MB', async () => {
    const content = 'A'.repeat(6 * MEBIBYTE)
    const attachment = { Name: 'a.pdf', Content: content, ContentType: 'application/pdf' }
    const large = message({ Attachments: [attachment, attachment] })
    const answer = await post('/email/batch', [large, message()])
    expect(await answer.json()).toMatchObject([{ ErrorCode: 300 }, { ErrorCode: 0 }])
  })

  it.each([message(), { Messages: [message()] }, []])(
    'wants a bare array of messages, not %j',
    async (body) => {
      const answer = await post('/email/batch', body)
      expect([answer.status, await answer.json()]).toMatchObject([422, { ErrorCode: 403 }])
    },
  )

  it('refuses what is not JSON with 402', async () => {
    const answer = await post('/email/batch', '[')
    expect([answer.status, await answer.json()]).toMatchObject([422, { ErrorCode: 402 }])
  })
})

describe('GET /server', () => {
  it('describes the server, its tokens included', async () => {
    const answer = await get('/server')
    expect(answer.status).toBe(200)
    expect(await answer.json()).toMatchObject({
      ID: 1,
      ApiTokens: ['server-token'],
      DeliveryType: 'Sandbox',
      TrackOpens: false,
    })
  })

  it('describes it as it is told to', async () => {
    provider.settings.server = { Name: 'Shop', DeliveryType: 'Live' }
    expect(await (await get('/server')).json()).toMatchObject({ ID: 1, Name: 'Shop', DeliveryType: 'Live' })
  })
})

describe('GET /stats/outbound', () => {
  const stats = async (query = '') => (await get(`/stats/outbound${query}`)).json()

  it('counts nothing where nothing was sent', async () => {
    const names =
      'Sent Bounced SMTPApiErrors BounceRate SpamComplaints SpamComplaintsRate Opens UniqueOpens Tracked ' +
      'WithLinkTracking WithOpenTracking TotalTrackedLinksSent UniqueLinksClicked TotalClicks ' +
      'WithClientRecorded WithPlatformRecorded WithReadTimeRecorded'
    expect(await stats()).toEqual(Object.fromEntries(names.split(' ').map((name) => [name, 0])))
  })

  it('counts what was sent', async () => {
    await send({ TrackOpens: true })
    await send({ TrackLinks: 'HtmlAndText', TrackOpens: true })
    await send({ To: 'HardBounce@bounce-testing.postmarkapp.com' })
    expect(await stats()).toMatchObject({
      Sent: 3,
      Bounced: 1,
      BounceRate: 33.333,
      Tracked: 2,
      WithOpenTracking: 2,
      WithLinkTracking: 1,
    })
  })

  it('says what it is told to, and the rates follow', async () => {
    provider.settings.stats = { Sent: 615, Bounced: 64, SpamComplaints: 10, Opens: 166 }
    expect(await stats()).toMatchObject({
      Sent: 615,
      Bounced: 64,
      BounceRate: 10.407,
      SpamComplaints: 10,
      SpamComplaintsRate: 1.626,
      Opens: 166,
    })
    provider.settings.stats = { BounceRate: 12.5 }
    expect(await stats()).toMatchObject({ Sent: 0, BounceRate: 12.5 })
  })

  it('filters by tag, stream and day', async () => {
    await send({ Tag: 'a' })
    await send({ Tag: 'b', MessageStream: 'broadcast' })
    const day = provider.messages[0]?.submittedAt.slice(0, 10)
    expect(await stats('?tag=a')).toMatchObject({ Sent: 1 })
    expect(await stats('?messagestream=broadcast')).toMatchObject({ Sent: 1 })
    expect(await stats('?tag=a&messagestream=broadcast')).toMatchObject({ Sent: 0 })
    expect(await stats(`?fromdate=${day}&todate=${day}`)).toMatchObject({ Sent: 2 })
    expect(await stats('?todate=2020-01-01')).toMatchObject({ Sent: 0 })
    expect(await stats('?fromdate=2999-01-01')).toMatchObject({ Sent: 0 })
  })

  it.each([
    ['fromDate', '?fromDate=2026-01-01'],
    ['fromdate', '?fromdate=yesterday'],
    ['todate', '?todate=2026-13-01'],
    ['tag', '?tag=a&tag=b'],
  ])('refuses a filter that is wrong: %s', async (name, query) => {
    const answer = await get(`/stats/outbound${query}`)
    expect([answer.status, await answer.json()]).toEqual([
      422,
      { ErrorCode: 403, Message: `Invalid request field(s): '${name}'.` },
    ])
  })

  it('does not find a stream that is not there', async () => {
    const answer = await get('/stats/outbound?messagestream=other')
    expect([answer.status, await answer.json()]).toMatchObject([404, { ErrorCode: 1226 }])
  })
})

describe('whoever calls', () => {
  const { 'x-mailer-server-token': token, ...headers } = json

  it.each(['x-mailer-server-token', 'X-Postmark-Server-Token'])('may carry the token as %s', async (name) => {
    expect((await get('/server', { ...headers, [name]: token })).status).toBe(200)
  })

  it.each([
    {},
    { 'x-mailer-server-token': 'other' },
    { 'x-mailer-server-token': 'server-token', 'x-postmark-server-token': 'other' },
    { authorization: 'Bearer server-token' },
  ])('is refused with 401 for %j', async (credentials) => {
    for (const answer of [
      await get('/server', { ...headers, ...credentials }),
      await post('/email', message(), { ...headers, ...credentials }),
    ]) {
      expect([answer.status, await answer.json()]).toEqual([
        401,
        { ErrorCode: 10, Message: 'Request does not contain a valid Server token.' },
      ])
    }
    expect(provider.messages).toEqual([])
  })

  it.each([{ accept: '*/*' }, { 'content-type': 'text/plain' }])('must speak JSON: %j', async (changed) => {
    const answer = await post('/email', message(), { ...json, ...changed })
    expect([answer.status, await answer.json()]).toMatchObject([415, { ErrorCode: 409 }])
  })

  it('needs no content type to read', async () => {
    expect(
      (await get('/server', { accept: 'application/json', 'x-mailer-server-token': token })).status,
    ).toBe(200)
  })

  it('gets 404 for what is not there, and 405 for another method', async () => {
    expect((await get('/messages/outbound')).status).toBe(404)
    expect((await get('/constructor')).status).toBe(404)
    const answer = await get('/email')
    expect([answer.status, await answer.text()]).toEqual([405, ''])
  })
})

describe('the test token', () => {
  const headers = { ...json, 'x-mailer-server-token': 'POSTMARK_API_TEST' }

  it('has a message checked, and not sent', async () => {
    const answer = await post('/email', message(), headers)
    expect(await answer.json()).toMatchObject({
      ErrorCode: 0,
      Message: 'Test job accepted',
      To: 'ann@example.org',
    })
    expect((await post('/email', message({ To: 'nobody' }), headers)).status).toBe(422)
    const batch = await post('/email/batch', [message(), message({ To: '' })], headers)
    expect(await batch.json()).toMatchObject([{ Message: 'Test job accepted' }, { ErrorCode: 300 }])
    expect(provider.messages).toEqual([])
  })

  it('reads nothing', async () => {
    expect((await get('/server', headers)).status).toBe(401)
  })
})

describe('faults', () => {
  it('cut the connection before a message is accepted: it is not kept', async () => {
    provider.faults.add({ path: '/email', cut: 'before' })
    await expect(send()).rejects.toThrow('fetch failed')
    expect(provider.messages).toEqual([])
  })

  it('cut the connection after a message is accepted: it is kept', async () => {
    provider.faults.add({ path: '/email', cut: 'after' })
    await expect(send()).rejects.toThrow('fetch failed')
    expect(provider.messages).toHaveLength(1)
  })

  it('befall the second call of a batch alone', async () => {
    provider.faults.add({ path: '/email/batch', skip: 1, status: 429, headers: { 'retry-after': '1' } })
    const statuses = []
    for (let index = 0; index < 3; index += 1) {
      statuses.push((await post('/email/batch', [message()])).status)
    }
    expect(statuses).toEqual([200, 429, 200])
    expect(provider.calls.map(({ status }) => status)).toEqual(statuses)
    expect(provider.messages).toHaveLength(2)
  })
})

describe('what is kept', () => {
  it('is no more than it is told to keep, the newest', async () => {
    const small = createMailProvider({ keep: 3 })
    const tags = ['a', 'b', 'c', 'd', 'e']
    const body = JSON.stringify(tags.map((Tag) => message({ Tag })))
    await small.fetch('http://mail.invalid/email/batch', { method: 'POST', headers: json, body })
    expect(small.messages.map(({ tag }) => tag)).toEqual(['c', 'd', 'e'])
  })

  it('is forgotten on reset, and the first settings come back', async () => {
    const strict = createMailProvider({ senders: ['example.com'] })
    strict.settings.senders = undefined
    strict.settings.account = 'blocked'
    strict.inactive.add('gone@example.org')
    strict.faults.add({ hang: true })
    strict.reset()
    expect(strict.settings).toMatchObject({ senders: ['example.com'], account: 'approved' })
    expect([strict.inactive.size, strict.faults.pending().length]).toEqual([0, 0])
  })
})
