/** The providers of users and of mails, and a platform, in one process. `PORT` and `DELAY_MS` come from the environment. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createBackendApi } from '../../../packages/idp/src/testing/index.ts'
import { acceptanceOf, messageId, userId } from './wire.ts'

const delayMs = Number(process.env.DELAY_MS ?? 0)

const backend = createBackendApi()
backend.instance.createUsers(1)
const [someone] = backend.users.values()
const user = JSON.stringify({ ...someone, id: userId })
const STATS = JSON.stringify({ Sent: 615, Bounced: 64, SpamComplaints: 10, Opens: 166, Tracked: 111 })
const MAIL_SERVER = JSON.stringify({ ID: 1, Name: 'Benchmark', DeliveryType: 'Live' })

/** The mails of a batch have ids of their own, as the provider promises. */
const toAcceptance = (mail: { To?: unknown }) => ({ ...acceptanceOf(mail), MessageID: crypto.randomUUID() })

function respondTo({ method, url }: IncomingMessage, body: string): string | undefined {
  if (url?.startsWith('/deployments/')) return '{}'
  switch (`${method} ${url}`) {
    case `GET /v1/users/${userId}`:
      return user
    case 'POST /email':
      return JSON.stringify(acceptanceOf(JSON.parse(body)))
    case 'POST /email/batch':
      return JSON.stringify(JSON.parse(body).map(toAcceptance))
    case 'POST /emails':
      return JSON.stringify({ id: messageId })
    case 'GET /stats/outbound':
      return STATS
    case 'GET /server':
      return MAIL_SERVER
    default:
      return undefined
  }
}

function reply(response: ServerResponse, text: string | undefined): void {
  const body = text ?? '{"Message":"Not found"}'
  response.writeHead(text === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const text = respondTo(request, Buffer.concat(chunks).toString())
    if (delayMs > 0) setTimeout(() => reply(response, text), delayMs)
    else reply(response, text)
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
