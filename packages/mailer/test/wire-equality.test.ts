import * as postmark from 'postmark'
import { describe, expect, it } from 'vitest'
import { runMailProvider } from './support.ts'
import { cases } from './wire-cases.ts'

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

/** The two requests, ours and theirs. The provider’s own classes write `null` for an absent field. */
function sentRequests() {
  expect(mail.requests).toHaveLength(2)
  return mail.requests.map(({ method, path, headers, text }) => ({
    method,
    path,
    headers: comparedHeaders.map((name) => headers.get(name)),
    body: JSON.parse(text, (_name, value) => value ?? undefined),
  }))
}

describe('compared with the provider’s own client', () => {
  it.each(cases)('sends the same request for $what', async ({ our, their }) => {
    await ours.sendEmail(our)
    await theirs.sendEmail(their)
    const [one, other] = sentRequests()
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
    const [one, other] = sentRequests()
    expect(one).toEqual(other)
    expect(one).toMatchObject({ path: '/email/batch', body: { length: cases.length } })
  })
})
