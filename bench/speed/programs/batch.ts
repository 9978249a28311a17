/** Sends many mails in one way, and reports the cost: `batch floor|list|stream <mails> <url of the provider>`. */
import { serveOrders } from '../../shared/serve-orders.ts'
import { createFloor, text, toWireMail } from './floor.ts'

const [way = '', wanted = '', url = ''] = process.argv.slice(2)
const total = Number(wanted)
const LIST = 500
const addressOf = (index: number) => `person-${index}@example.org`

async function floor() {
  const post = createFloor(url)
  return async () => {
    let sent = 0
    for (let first = 0; first < total; first += LIST) {
      const list = Array.from({ length: Math.min(LIST, total - first) }, (_, at) => addressOf(first + at))
      const results: unknown = await post('/email/batch', list.map(toWireMail))
      if (Array.isArray(results)) sent += results.filter(({ ErrorCode }) => ErrorCode === 0).length
    }
    return sent
  }
}

async function ours() {
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
  if (way === 'list') return async () => (await mailer.sendEmails(messages())).sent
  return async () => {
    let sent = 0
    for await (const { status } of mailer.streamEmails(messages())) if (status === 'sent') sent += 1
    return sent
  }
}

const send = way === 'floor' ? await floor() : await ours()

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
