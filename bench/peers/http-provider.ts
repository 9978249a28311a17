import { createEmulator, createFaults, type EmulatedRequest, type Fault, serve } from '@org/core/testing'
import { acceptanceOf } from '../speed/programs/wire.ts'

/** A problem with a request; `rejects` accepts the mail, and says in prose that one recipient is rejected. */
type Problem = Fault | { rejects: string }

export type HttpProvider = Awaited<ReturnType<typeof startHttpProvider>>

/** Starts a provider with the APIs of postmark and resend, as they are documented. */
export async function startHttpProvider() {
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
    /** The number of mails that it accepted. */
    accepted: () => accepted,
    /** Causes a problem with every request from now on, or with the next ones. */
    cause(problem: Problem, times = Number.POSITIVE_INFINITY) {
      faults.clear()
      if ('rejects' in problem) rejected = problem.rejects
      else faults.add({ ...problem, times })
    },
    close: () => void server.close(),
  }
}

function respondTo(path: string, body: unknown, rejected?: string): Response {
  const mails = Array.isArray(body) ? body : [body]
  const accept = (mail: { To?: unknown }) => ({
    ...acceptanceOf(mail),
    ...(rejected && {
      Message: `Message OK, but will not deliver to these inactive addresses: ${rejected}.`,
    }),
  })
  const refuse = (fields: object) => Response.json(fields, { status: 422 })
  switch (path) {
    case '/email':
      return Response.json(accept(mails[0]))
    case '/email/batch':
      return mails.length > 500
        ? refuse({ ErrorCode: 410, Message: 'Too many batch messages. The limit is 500 in one call.' })
        : Response.json(mails.map(accept))
    case '/emails':
      return Response.json({ id: '49a3999c-0ce1-4ea6-ab68-afcd6dc2e794' })
    case '/emails/batch':
      return mails.length > 100
        ? refuse({ statusCode: 422, name: 'validation_error', message: 'At most 100 emails in one call.' })
        : Response.json({ data: mails.map((_, index) => ({ id: `${index}` })) })
    default:
      return Response.json({ Message: 'Not found' }, { status: 404 })
  }
}
