import { type Served, serve } from '@org/core/testing'
import * as postmark from 'postmark'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createMailer } from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'
import { cases } from './wire-cases.ts'
import { meaningOf } from './wire-meaning.ts'

/** A request as it was on the wire, and where it was meant to go. */
interface Recorded {
  origin: string
  method: string
  path: string
  type: string | null
  accept: string | null
  token: string | null
  body: unknown
}

const provider = createMailProvider()
const recorded: Recorded[] = []
let server: Served

beforeAll(async () => {
  server = await serve(async (request) => {
    const { pathname, search } = new URL(request.url)
    recorded.push({
      origin: request.headers.get('x-meant-for') ?? '',
      method: request.method,
      path: pathname + search,
      type: request.headers.get('content-type'),
      accept: request.headers.get('accept'),
      token: request.headers.get('x-postmark-server-token'),
      body: await request.clone().json(),
    })
    return provider.fetch(request)
  })
})
afterAll(() => server.close())
beforeEach(() => {
  provider.reset()
  recorded.length = 0
})

/** Both clients speak to the provider's own host; what they send there goes to the recording server. */
const viaServer: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const { origin, pathname, search } = new URL(request.url)
  const headers = new Headers(request.headers)
  headers.set('x-meant-for', origin)
  return fetch(server.url + pathname + search, {
    method: request.method,
    headers,
    body: await request.text(),
  })
}

const ours = createMailer({ apiToken: 'server-token', fetch: viaServer })
const theirs = new postmark.ServerClient('server-token', { fetch: viaServer })

/** The last two requests, ours and theirs, as what they mean. */
function recordedPair() {
  expect(recorded).toHaveLength(2)
  const [our, their] = recorded.map((request) => ({ ...request, body: meaningOf(request.body) }))
  return { our, their }
}

describe('what leaves, compared with the provider’s own client', () => {
  it.each(cases)('is the same for $what', async ({ our, their }) => {
    await ours.sendEmail(our)
    await theirs.sendEmail(their)
    const pair = recordedPair()
    expect(pair.our).toEqual(pair.their)
    expect(pair.our).toMatchObject({ origin: 'https://api.postmarkapp.com', method: 'POST', path: '/email' })
  })

  it('is the same for all of them in one batch', async () => {
    await ours.sendEmails(cases.map(({ our }) => our))
    await theirs.sendEmailBatch(cases.map(({ their }) => their))
    const pair = recordedPair()
    expect(pair.our).toEqual(pair.their)
    expect(pair.our).toMatchObject({ path: '/email/batch', type: 'application/json', token: 'server-token' })
    expect(pair.our?.body).toHaveLength(cases.length)
  })
})

describe('the comparison itself', () => {
  const message = { From: 'Shop <shop@example.com>', To: 'a@b.c,D <d@e.f>', Subject: 'Hello', TextBody: 'Hi' }

  it.each([
    { what: 'null, empty and absent', other: { ...message, Cc: null, Bcc: '', Headers: [], Metadata: {} } },
    { what: 'quotes that change nothing', other: { ...message, From: '"Shop" <shop@example.com>' } },
    { what: 'the default stream', other: { ...message, MessageStream: 'outbound' } },
  ])('takes $what for the same', ({ other }) => {
    expect(meaningOf(other)).toEqual(meaningOf(message))
  })

  it.each([
    { what: 'another name', other: { ...message, From: 'Shops <shop@example.com>' } },
    { what: 'a recipient less', other: { ...message, To: 'a@b.c' } },
    { what: 'the order of recipients', other: { ...message, To: 'D <d@e.f>,a@b.c' } },
    { what: 'a comma within quotes', other: { ...message, To: '"a@b.c,D" <d@e.f>' } },
    { what: 'false', other: { ...message, TrackOpens: false } },
    { what: 'a space in the text', other: { ...message, TextBody: 'Hi ' } },
    { what: 'a field nobody knows', other: { ...message, Surprise: 1 } },
  ])('sees $what', ({ other }) => {
    expect(meaningOf(other)).not.toEqual(meaningOf(message))
  })
})
