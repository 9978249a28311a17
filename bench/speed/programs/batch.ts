/** Sends many mails in one way, and reports the cost: `batch floor|list|stream <mails> <url of the provider>`. */
import { Agent, request } from 'undici'
import { serveOrders } from '../../shared/serve-orders.ts'

const [way = '', wanted = '', url = ''] = process.argv.slice(2)
const total = Number(wanted)
const LIST = 500
const [from, subject] = ['Shop <shop@example.com>', 'Your order']
const textBody = 'It is on its way. '.repeat(10)
const addressOf = (index: number) => `person-${index}@example.org`

/** The least that a client of the provider can do: it posts lists without retries, checks and limits. */
function floor() {
  const dispatcher = new Agent({ pipelining: 1 })
  const headers = { 'content-type': 'application/json', 'x-postmark-server-token': 'server-token' }
  const toWireMail = (index: number) => ({
    From: from,
    To: addressOf(index),
    Subject: subject,
    TextBody: textBody,
    MessageStream: 'outbound',
  })
  return async () => {
    let sent = 0
    for (let first = 0; first < total; first += LIST) {
      const list = Array.from({ length: Math.min(LIST, total - first) }, (_, at) => toWireMail(first + at))
      const options = { method: 'POST', headers, body: JSON.stringify(list), dispatcher }
      const results: unknown = await (await request(`${url}/email/batch`, options)).body.json()
      if (Array.isArray(results)) sent += results.filter(({ ErrorCode }) => ErrorCode === 0).length
    }
    return sent
  }
}

async function ours() {
  const { createMailer } = await import('@org/mailer')
  const mailer = createMailer({ apiToken: 'server-token', baseUrl: url })
  function* messages() {
    for (let index = 0; index < total; index += 1) yield { from, to: addressOf(index), subject, textBody }
  }
  if (way === 'list') return async () => (await mailer.sendEmails(messages())).sent
  return async () => {
    let sent = 0
    for await (const { status } of mailer.streamEmails(messages())) if (status === 'sent') sent += 1
    return sent
  }
}

const send = way === 'floor' ? floor() : await ours()

serveOrders(async () => {
  const before = process.cpuUsage()
  const began = performance.now()
  const sent = await send()
  const wallMs = performance.now() - began
  const { user, system } = process.cpuUsage(before)
  if (sent !== total) throw new Error(`Only ${sent} of ${total} mails were sent.`)
  const peakBytes = process.resourceUsage().maxRSS * 1024
  return { wallMs, cpuMicroseconds: (user + system) / total, peakBytes }
})
