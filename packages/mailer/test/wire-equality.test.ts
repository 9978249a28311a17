import * as postmark from 'postmark'
import { describe, expect, it } from 'vitest'
import { runMailProvider } from './support.ts'
import { cases } from './wire-cases.ts'
import { meaningOf } from './wire-meaning.ts'

const mail = runMailProvider()

/** Both clients call the provider’s own host; this `fetch` sends their requests to the emulator instead. */
const fetchFromEmulator: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const { origin, pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.set('x-origin', origin)
  return fetch(mail.url + pathname + search, { method: request.method, headers, body: await request.text() })
}

const ours = mail.mailer({ baseUrl: undefined, fetch: fetchFromEmulator })
const theirs = new postmark.ServerClient('server-token', { fetch: fetchFromEmulator })
const comparedHeaders = ['x-origin', 'content-type', 'accept', 'x-postmark-server-token']

/** The two requests, ours and theirs, as their meaning. */
function meanings() {
  expect(mail.requests).toHaveLength(2)
  return mail.requests.map(({ method, path, headers, text }) => ({
    method,
    path,
    headers: comparedHeaders.map((name) => headers.get(name)),
    body: meaningOf(JSON.parse(text)),
  }))
}

describe('compared with the provider’s own client', () => {
  it.each(cases)('sends the same request for $what', async ({ our, their }) => {
    await ours.sendEmail(our)
    await theirs.sendEmail(their)
    const [one, other] = meanings()
    expect(one).toEqual(other)
    expect(one).toMatchObject({
      method: 'POST',
      path: '/email',
      headers: ['https://api.postmarkapp.com', 'application/json', 'application/json', 'server-token'],
    })
  })

  it('sends the same request for all cases in one batch', async () => {
    await ours.sendEmails(cases.map(({ our }) => our))
    await theirs.sendEmailBatch(cases.map(({ their }) => their))
    const [one, other] = meanings()
    expect(one).toEqual(other)
    expect(one).toMatchObject({ path: '/email/batch', body: { length: cases.length } })
  })
})

describe('the comparison', () => {
  const message = { From: 'Shop <shop@example.com>', To: 'a@b.c,D <d@e.f>', Subject: 'Hello', TextBody: 'Hi' }

  it.each([
    { Cc: null, Bcc: '', Headers: [], Metadata: {} },
    { From: '"Shop" <shop@example.com>' },
    { MessageStream: 'outbound' },
  ])('ignores %j', (change) => {
    expect(meaningOf({ ...message, ...change })).toEqual(meaningOf(message))
  })

  it.each([
    { From: 'Shops <shop@example.com>' },
    { To: 'a@b.c' },
    { To: 'D <d@e.f>,a@b.c' },
    { To: '"a@b.c,D" <d@e.f>' },
    { TrackOpens: false },
    { TextBody: 'Hi ' },
    { Surprise: 1 },
  ])('notices %j', (change) => {
    expect(meaningOf({ ...message, ...change })).not.toEqual(meaningOf(message))
  })
})
