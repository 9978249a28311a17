/**
 * The providers of both kinds as a process of its own, so that their work is not counted: a user, mails, and
 * the token's server. `PORT` and `DELAY_MS` are told by the environment.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createBackendApi } from '../../packages/idp/src/testing/index.ts'
import { userId } from '../callers/outbound-call.ts'
import { messageId } from '../callers/single-send.ts'

const delayMs = Number(process.env.DELAY_MS ?? 0)

const backend = createBackendApi()
backend.instance.createUsers(1)
const [someone] = backend.users.values()
const user = JSON.stringify({ ...someone, id: userId })
const MAIL_SERVER = JSON.stringify({ ID: 1, Name: 'Benchmark', DeliveryType: 'Live' })

const toAnswer = (mail: unknown) => ({
  To: typeof mail === 'object' && mail !== null && 'To' in mail ? mail.To : undefined,
  SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
  MessageID: messageId,
  ErrorCode: 0,
  Message: 'OK',
})

function answerTo({ method, url }: IncomingMessage, body: string): string | undefined {
  switch (`${method} ${url}`) {
    case `GET /v1/users/${userId}`:
      return user
    case 'POST /email':
      return JSON.stringify(toAnswer(JSON.parse(body)))
    case 'POST /email/batch':
      return JSON.stringify(JSON.parse(body).map(toAnswer))
    case 'POST /emails':
      return JSON.stringify({ id: messageId })
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
    const text = answerTo(request, Buffer.concat(chunks).toString())
    if (delayMs > 0) setTimeout(() => reply(response, text), delayMs)
    else reply(response, text)
  })
}).listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => process.exit(0))
