// Sends messages from an async iterable: stream.mjs <project> <port> <way> <messages>
import { createRequire } from 'node:module'

const [project, port, way, wanted] = process.argv.slice(2)
const total = Number(wanted)
const load = (name) => createRequire(`${project}/package.json`)(name)
const text = 'It is on its way. '.repeat(10)
let sent = 0

async function* messages(make) {
  for (let index = 0; index < total; index += 1) yield make(`person-${index}@example.org`)
}

async function stream() {
  const { createMailer } = load('@org/mailer')
  const mailer = createMailer({ apiToken: 'server-token', baseUrl: `http://127.0.0.1:${port}` })
  const source = messages((to) => ({
    from: 'Shop <shop@example.com>',
    to,
    subject: 'Your order',
    textBody: text,
  }))
  for await (const { status } of mailer.streamEmails(source)) if (status === 'sent') sent += 1
}

// As its documentation shows: lists of 500, cut by the caller.
async function batches(inFlight) {
  const { ServerClient } = load('postmark')
  const client = new ServerClient('server-token', { requestHost: `127.0.0.1:${port}`, useHttps: false })
  const source = messages((To) => ({
    From: 'Shop <shop@example.com>',
    To,
    Subject: 'Your order',
    TextBody: text,
    MessageStream: 'outbound',
  }))
  const send = async (list) => {
    for (const { ErrorCode } of await client.sendEmailBatch(list)) if (ErrorCode === 0) sent += 1
  }
  const underWay = []
  let list = []
  for await (const message of source) {
    list.push(message)
    if (list.length < 500) continue
    underWay.push(send(list))
    list = []
    if (underWay.length >= inFlight) await underWay.shift()
  }
  if (list.length > 0) underWay.push(send(list))
  await Promise.all(underWay)
}

const before = process.cpuUsage()
const began = performance.now()
await (way === 'stream' ? stream() : batches(Number(way)))
const wallMs = performance.now() - began
const { user, system } = process.cpuUsage(before)
if (sent !== total) throw new Error(`Only ${sent} of ${total} were sent.`)
console.log(
  JSON.stringify({
    wallMs,
    cpuMicroseconds: (user + system) / total,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  }),
)
process.exit()
