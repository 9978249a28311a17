/**
 * Sending one mail, as each contender does it by its documentation.
 *
 * @module
 */
import { type Connect, expectValue } from './caller.ts'
import { hostTransport } from './host-transport.ts'

/** What the provider answers each mail with. */
export const messageId = 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817'
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
      const answer = await request(`${url}/email`, { method: 'POST', headers, body, dispatcher })
      expectValue(idOf(await answer.body.json()), messageId)
    }
  }

const globalFetch: Connect = async (url) => async () => {
  const body = JSON.stringify(wireMail)
  const response = await fetch(`${url}/email`, { method: 'POST', headers, body })
  expectValue(idOf(await response.json()), messageId)
}

const kyOverFetch: Connect = async (url) => {
  const { default: ky } = await import('ky')
  return async () => {
    const answer = await ky.post(`${url}/email`, { headers, json: wireMail }).json()
    expectValue(idOf(answer), messageId)
  }
}

const postmark: Connect = async (url) => {
  const { ServerClient } = await import('postmark')
  const { host } = new URL(url)
  const client = new ServerClient('server-token', { requestHost: host, useHttps: false })
  return async () => expectValue((await client.sendEmail({ ...wireMail })).MessageID, messageId)
}

const resend: Connect = async (url) => {
  const { Resend } = await import('resend')
  const client = new Resend('re_token', { baseUrl: url })
  return async () => expectValue((await client.emails.send({ ...mail, text })).data?.id, messageId)
}

const ours: Connect = async (url) => {
  const { createMailer } = await import('@org/mailer')
  const client = createMailer({ apiToken: 'server-token', baseUrl: url })
  return async () => expectValue((await client.sendEmail({ ...mail, textBody: text })).messageId, messageId)
}

const oursHosted: Connect = async (url) => {
  const { createMailer } = await import('@org/mailer')
  const client = createMailer({
    apiToken: 'server-token',
    baseUrl: url,
    fetch: await hostTransport('mailer'),
  })
  return async () => {
    // As in the host, where each call hangs on the signal of its event.
    const { signal } = new AbortController()
    expectValue((await client.sendEmail({ ...mail, textBody: text }, { signal })).messageId, messageId)
  }
}

/** By id. */
export const singleSends: Readonly<Record<string, Connect>> = {
  'undici-request': undiciRequest(1),
  'undici-fresh': undiciRequest(0),
  fetch: globalFetch,
  ky: kyOverFetch,
  postmark,
  resend,
  ours,
  'ours-hosted': oursHosted,
}

function idOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'MessageID' in answer ? answer.MessageID : undefined
}
