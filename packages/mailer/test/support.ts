import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createMailer,
  type IntegrationError,
  isIntegrationError,
  type MailerOptions,
  type Message,
} from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'

/** Runs a mail provider over real HTTP for a test file, and resets it before each test. */
export function runMailProvider() {
  const provider = createMailProvider()
  const requests: { method: string; path: string; headers: Headers; text: string }[] = []
  const waits: number[] = []
  const actions = new Map<number, () => void>()
  let server: Served | undefined

  beforeAll(async () => {
    server = await serve(async (request) => {
      const text = await request.clone().text()
      const path = new URL(request.url).pathname
      requests.push({ method: request.method, path, headers: request.headers, text })
      actions.get(requests.length)?.()
      return provider.fetch(request)
    })
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    provider.reset()
    requests.length = 0
    waits.length = 0
    actions.clear()
  })

  return {
    provider,
    requests,
    /** The pauses between attempts, in milliseconds; the tests do not wait for them. */
    waits,
    /** The provider’s base URL. */
    get url() {
      return server?.url ?? ''
    },
    /** Runs an action as soon as the request of this number (from 1) arrives. */
    atRequest: (number: number, action: () => void) => void actions.set(number, action),
    mailer: (options?: Partial<MailerOptions>) =>
      createMailer({
        apiToken: 'server-token',
        fromEmail: 'Shop <shop@example.com>',
        baseUrl: server?.url,
        wait: async (milliseconds) => void waits.push(milliseconds),
        ...options,
      }),
  }
}

/** A valid message. */
export function message(fields: Partial<Message> = {}): Message {
  return Object.assign({ to: 'ann@example.org', subject: 'Hello', textBody: 'Hi Ann' }, fields)
}

export const addressOf = (index: number) => `a${index}@example.org`

/** Valid messages to different addresses. */
export function messages(count: number): Message[] {
  return Array.from({ length: count }, (_, index) => message({ to: addressOf(index) }))
}

/** The statuses of results, run by run: `500 sent,1 unknown`. */
export function runs(results: readonly { status: string }[]): string {
  const statuses = results.map(({ status }) => status)
  const starts = [...statuses.keys()].filter((at) => statuses[at] !== statuses[at - 1])
  return starts.map((start, at) => `${(starts[at + 1] ?? statuses.length) - start} ${statuses[start]}`).join()
}

/** The `IntegrationError` that a promise rejects with. */
export async function failureOf(work: Promise<unknown>): Promise<IntegrationError> {
  const error: unknown = await work.then(
    () => expect.fail('expected a rejection'),
    (reason: unknown) => reason,
  )
  if (!isIntegrationError(error)) throw error
  return error
}

/** A URL on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serve(async () => new Response())
  await server.close()
  return server.url
}
