/**
 * Each contender sends one mail, as its documentation shows.
 *
 * @module
 */
import { type Connect, expectField, hostTransport } from './call.ts'
import { messageId } from './wire.ts'

const text = 'It is on its way. '.repeat(10)
const mail = { from: 'Shop <shop@example.com>', to: 'ada@example.org', subject: 'Your order' }
const wireMail = {
  From: mail.from,
  To: mail.to,
  Subject: mail.subject,
  TextBody: text,
  MessageStream: 'outbound',
}
const headers = {
  accept: 'application/json',
  'content-type': 'application/json',
  'x-postmark-server-token': 'server-token',
}

const undiciRequest =
  (pipelining: number): Connect =>
  async (url) => {
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ pipelining })
    return async () => {
      const body = JSON.stringify(wireMail)
      const response = await request(`${url}/email`, { method: 'POST', headers, body, dispatcher })
      expectField(await response.body.json(), 'MessageID', messageId)
    }
  }

/** Our client. The host passes the signal of an event to each call. */
const ours =
  (hosted: boolean): Connect =>
  async (url) => {
    const { createMailer } = await import('@org/mailer')
    const transport = hosted ? { fetch: hostTransport('mailer') } : {}
    const client = createMailer({ apiToken: 'server-token', baseUrl: url, ...transport })
    return async () => {
      const options = hosted ? { signal: new AbortController().signal } : {}
      expectField(await client.sendEmail({ ...mail, textBody: text }, options), 'messageId', messageId)
    }
  }

/** By id. */
export const singleSends: Readonly<Record<string, Connect>> = {
  'undici-request': undiciRequest(1),
  'undici-fresh': undiciRequest(0),
  fetch: async (url) => async () => {
    const body = JSON.stringify(wireMail)
    const response = await fetch(`${url}/email`, { method: 'POST', headers, body })
    expectField(await response.json(), 'MessageID', messageId)
  },
  async ky(url) {
    const { default: ky } = await import('ky')
    return async () => {
      const response = await ky.post(`${url}/email`, { headers, json: wireMail }).json()
      expectField(response, 'MessageID', messageId)
    }
  },
  async postmark(url) {
    const { ServerClient } = await import('postmark')
    const { host } = new URL(url)
    const client = new ServerClient('server-token', { requestHost: host, useHttps: false })
    return async () => expectField(await client.sendEmail({ ...wireMail }), 'MessageID', messageId)
  },
  async resend(url) {
    const { Resend } = await import('resend')
    const client = new Resend('re_token', { baseUrl: url })
    return async () => expectField((await client.emails.send({ ...mail, text })).data, 'id', messageId)
  },
  ours: ours(false),
  'ours-hosted': ours(true),
}
