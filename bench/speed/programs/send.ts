/** A client that sends mails one by one, and reports the cost: `send kept|fresh|ours <url of the provider>`. */
import { createOutbound } from '../../../apps/server/src/outbound/outbound.ts'
import { createNodeRuntime } from '../../../apps/server/src/runtimes/node-runtime.ts'
import { serveOrders } from '../../shared/serve-orders.ts'
import { quantile } from '../../shared/statistics.ts'
import { createFloor, text, toWireMail } from './floor.ts'

const [contender = '', url = ''] = process.argv.slice(2)
const to = 'ada@example.org'

/** Our client with the transport of the host, which passes the signal of an event to each call. */
async function ours() {
  const { createMailer } = await import('@org/mailer')
  const { connections } = createNodeRuntime({ production: false, egressAllow: [] })
  const { fetch } = createOutbound({ connections, logger: () => {} }).provider('mailer')
  const client = createMailer({ apiToken: 'server-token', baseUrl: url, fetch })
  const message = { from: 'Shop <shop@example.com>', to, subject: 'Your order', textBody: text }
  return async () => (await client.sendEmail(message, { signal: new AbortController().signal })).messageId
}

function floor() {
  const post = createFloor(url, contender === 'kept' ? 1 : 0)
  return async () => Object(await post('/email', toWireMail(to))).MessageID
}

const send = contender === 'ours' ? await ours() : floor()

serveOrders(async ({ calls, inFlight }: { calls: number; inFlight: number }) => {
  let begun = 0
  const durations: number[] = []
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (begun++ < calls) {
        const started = performance.now()
        if (typeof (await send()) !== 'string') throw new Error('A mail was not sent.')
        durations.push(performance.now() - started)
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(durations, share))
  return { cpuMicroseconds: (user + system) / calls, p50, p99 }
})
