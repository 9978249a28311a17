import { createEmulator, createFaults, type EmulatedRequest, type Fault, serve } from '@org/core/testing'

/** A provider on this machine. */
export interface Provider<Problem> {
  port: number
  /** The number of requests so far. */
  requests(): number
  /** The number of mails that it accepted. */
  accepted(): number
  /** Causes a problem with every request from now on, or with the next ones. */
  cause(problem: Problem, times?: number): void
  close(): void
}

/** A problem with a request; `rejects` accepts the mail, and says in prose that one recipient is rejected. */
export type HttpProblem = Fault | { rejects: string }

/** Starts a provider with the APIs of postmark, resend and sendgrid, as they are documented. */
export async function startHttpProvider(): Promise<Provider<HttpProblem>> {
  const faults = createFaults()
  let accepted = 0
  let rejected: string | undefined
  const emulator = createEmulator({
    faults,
    details: () => ({}),
    handle({ url, text }: EmulatedRequest) {
      const body: unknown = JSON.parse(text)
      const response = respondTo(url.pathname, body, rejected)
      if (response.ok) accepted += Array.isArray(body) ? body.length : 1
      return response
    },
  })
  const server = await serve(emulator.fetch)
  return {
    port: server.port,
    requests: () => emulator.calls.length,
    accepted: () => accepted,
    cause(problem, times = Number.POSITIVE_INFINITY) {
      faults.clear()
      if ('rejects' in problem) rejected = problem.rejects
      else faults.add({ ...problem, times })
    },
    close: () => void server.close(),
  }
}

function respondTo(path: string, body: unknown, rejected?: string): Response {
  const count = Array.isArray(body) ? body.length : 1
  const accept = (message: unknown) => ({
    To: typeof message === 'object' && message !== null && 'To' in message ? message.To : '',
    SubmittedAt: '2026-11-20T09:00:00.4178645-05:00',
    MessageID: 'b7bc2f4a-e38e-4336-af7d-e6c392c2f817',
    ErrorCode: 0,
    Message: rejected ? `Message OK, but will not deliver to these inactive addresses: ${rejected}.` : 'OK',
  })
  const refuse = (fields: object) => Response.json(fields, { status: 422 })
  switch (path) {
    case '/email':
      return Response.json(accept(body))
    case '/email/batch':
      return count > 500
        ? refuse({ ErrorCode: 410, Message: 'Too many batch messages. The limit is 500 in one call.' })
        : Response.json(Array.isArray(body) ? body.map(accept) : [])
    case '/emails':
      return Response.json({ id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' })
    case '/emails/batch':
      return count > 100
        ? refuse({ statusCode: 422, name: 'validation_error', message: 'At most 100 emails in one call.' })
        : Response.json({ data: Array.from({ length: count }, (_, index) => ({ id: `${index}` })) })
    case '/v3/mail/send':
      return new Response(null, { status: 202 })
    default:
      return Response.json({ Message: 'Not found' }, { status: 404 })
  }
}
