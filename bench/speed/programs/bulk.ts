/** Sends many mails in one way, and reports the cost: `bulk <way> <mails> <url of the provider>`. */
import { serveOrders } from '../../shared/serve-orders.ts'
import { text, toWireMail } from './wire.ts'

const [way = '', wanted = '', url = ''] = process.argv.slice(2)
const total = Number(wanted)
const LIST = 500
const addressOf = (index: number) => `person-${index}@example.org`

/** Resolves with the number of mails that were sent. */
type Send = () => Promise<number>

async function ours(streamed: boolean): Promise<Send> {
  const { createMailer } = await import('@org/mailer')
  const mailer = createMailer({ apiToken: 'server-token', baseUrl: url })
  function* messages() {
    for (let index = 0; index < total; index += 1)
      yield {
        from: 'Shop <shop@example.com>',
        to: addressOf(index),
        subject: 'Your order',
        textBody: text,
      }
  }
  if (!streamed) return async () => (await mailer.sendEmails(messages())).sent
  return async () => {
    let sent = 0
    for await (const { status } of mailer.streamEmails(messages())) if (status === 'sent') sent += 1
    return sent
  }
}

/** As in its documentation: the caller makes lists of 500. */
async function postmark(inFlight: number): Promise<Send> {
  const { ServerClient } = await import('postmark')
  const client = new ServerClient('server-token', { requestHost: new URL(url).host, useHttps: false })
  let sent = 0
  let next = 0
  async function work(): Promise<void> {
    while (next < total) {
      const first = next
      next = Math.min(total, first + LIST)
      const list = Array.from({ length: next - first }, (_, at) => toWireMail(addressOf(first + at)))
      for (const { ErrorCode } of await client.sendEmailBatch(list)) if (ErrorCode === 0) sent += 1
    }
  }
  return async () => {
    await Promise.all(Array.from({ length: inFlight }, work))
    return sent
  }
}

const ways: Readonly<Record<string, () => Promise<Send>>> = {
  postmark: () => postmark(1),
  'postmark-8': () => postmark(8),
  ours: () => ours(false),
  'ours-streamed': () => ours(true),
}
const send = await ways[way]?.()

serveOrders(async () => {
  const before = process.cpuUsage()
  const began = performance.now()
  const sent = await send?.()
  const wallMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  if (sent !== total) throw new Error(`Only ${sent} of ${total} mails were sent.`)
  const peakBytes = process.resourceUsage().maxRSS * 1024
  return { wallMs, cpuMicroseconds: (user + system) / total, peakBytes }
})
