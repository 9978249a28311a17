import { type Connect, createFloors, expectField, hostTransport } from './call.ts'
import { messageId, text, toWireMail } from './wire.ts'

const mail = { from: 'Shop <shop@example.com>', to: 'ada@example.org', subject: 'Your order' }
const wireMail = toWireMail(mail.to)
const check = (acceptance: unknown) => expectField(acceptance, 'MessageID', messageId)

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

export const singleSends: Readonly<Record<string, Connect>> = {
  ...createFloors({
    path: '/email',
    headers: {
      accept: 'application/json',
      'content-type': 'application/json',
      'x-postmark-server-token': 'server-token',
    },
    json: wireMail,
    check,
  }),
  async postmark(url) {
    const { ServerClient } = await import('postmark')
    const { host, protocol } = new URL(url)
    const client = new ServerClient('server-token', { requestHost: host, useHttps: protocol === 'https:' })
    return async () => check(await client.sendEmail({ ...wireMail }))
  },
  async resend(url) {
    const { Resend } = await import('resend')
    const client = new Resend('re_token', { baseUrl: url })
    return async () => expectField((await client.emails.send({ ...mail, text })).data, 'id', messageId)
  },
  ours: ours(false),
  'ours-hosted': ours(true),
  'ours-hosted-alone': ours(true),
}
