/** A provider of mails. `PORT` and `DELAY_MS` come from the environment. */
import { createServer } from 'node:http'

const delayMs = Number(process.env.DELAY_MS)

const accept = ({ To }: { To?: unknown }) => ({
  To,
  SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
  MessageID: crypto.randomUUID(),
  ErrorCode: 0,
  Message: 'OK',
})

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const mails: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}')
    const body = JSON.stringify(Array.isArray(mails) ? mails.map(accept) : accept(Object(mails)))
    const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const reply = () => response.writeHead(200, head).end(body)
    if (delayMs > 0) setTimeout(reply, delayMs)
    else reply()
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
