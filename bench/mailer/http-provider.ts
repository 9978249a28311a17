/**
 * The HTTP providers on this machine: each answers its SDK as its API is documented, until it is told to do
 * something else.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a provider does with its next requests. */
export type Mood =
  | { kind: 'well' }
  | { kind: 'answer'; status: number; headers?: Record<string, string>; body: string }
  /** Takes the mail, and cuts the connection instead of an answer. */
  | { kind: 'cut' }
  | { kind: 'hang' }
  /** Takes the mail, and says in prose that one recipient was left out. */
  | { kind: 'left-out'; address: string }

/** A server on this machine. */
export interface Provider {
  port: number
  /** Requests so far. */
  readonly requests: number
  /** Mails that it took. */
  readonly accepted: number
  /** From now on; `times` requests only, where given, then well again. */
  become(mood: Mood, times?: number): void
  close(): void
}

const countMails = (body: unknown) => (Array.isArray(body) ? body.length : 1)

/** Starts a server that speaks as postmark's, resend's and sendgrid's do. */
export async function startHttpProvider(): Promise<Provider> {
  let mood: Mood = { kind: 'well' }
  let left = Number.POSITIVE_INFINITY
  let requests = 0
  let accepted = 0

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests += 1
    const now: Mood = left > 0 ? mood : { kind: 'well' }
    left -= 1
    if (now.kind === 'hang') return
    if (now.kind === 'answer') {
      response.writeHead(now.status, { 'content-type': 'application/json', ...now.headers }).end(now.body)
      return
    }
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString())
    const answer = answerOf(request.url ?? '', body, now.kind === 'left-out' ? now.address : undefined)
    if (answer.status < 300) accepted += countMails(body)
    if (now.kind === 'cut') request.socket.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text)
  }

  const server: Server = createServer((request, response) => {
    exchange(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: portOf(server),
    get requests() {
      return requests
    },
    get accepted() {
      return accepted
    },
    become(next, times = Number.POSITIVE_INFINITY) {
      mood = next
      left = times
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** The port that a server got. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.')
  return address.port
}

function answerOf(path: string, body: unknown, leftOut?: string): { status: number; text: string } {
  const json = (status: number, value: unknown) => ({ status, text: JSON.stringify(value) })
  const count = countMails(body)
  const one = (message: unknown) => ({
    To: typeof message === 'object' && message !== null && 'To' in message ? message.To : '',
    SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
    MessageID: 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817',
    ErrorCode: 0,
    Message: leftOut ? `Message OK, but will not deliver to these inactive addresses: ${leftOut}.` : 'OK',
  })
  switch (path) {
    case '/email':
      return json(200, one(body))
    case '/email/batch':
      return count > 500
        ? json(422, { ErrorCode: 410, Message: 'Too many batch messages. The limit is 500 in one call.' })
        : json(200, Array.isArray(body) ? body.map(one) : [])
    case '/emails':
      return json(200, { id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' })
    case '/emails/batch':
      return count > 100
        ? json(422, { statusCode: 422, name: 'validation_error', message: 'At most 100 emails in one call.' })
        : json(200, { data: Array.from({ length: count }, (_, index) => ({ id: `${index}` })) })
    case '/v3/mail/send':
      return { status: 202, text: '' }
    default:
      return json(404, { Message: 'Not found' })
  }
}
