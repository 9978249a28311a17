import { type Served, serve } from '@org/core/testing'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import {
  createMailer,
  type IntegrationError,
  isIntegrationError,
  type Mailer,
  type MailerOptions,
  type Message,
} from '../src/index.ts'
import { createMailProvider, type MailProvider } from '../src/testing/index.ts'

/** A request as it was on the wire. */
interface SeenRequest {
  method: string
  path: string
  headers: Headers
  text: string
}

/** A mail provider over real HTTP, for all tests of a file. */
export interface Arrangement {
  provider: MailProvider
  /** Every request, as it was on the wire. */
  requests: SeenRequest[]
  /** Where the provider listens. */
  readonly url: string
  /** Does something as soon as the request of this number (from 1) has arrived. */
  atRequest(count: number, action: () => void): void
  /** The pauses between two tries, in milliseconds; none of them is really waited for. */
  waits: number[]
  mailer(options?: Partial<MailerOptions>): Mailer
}

/** Runs a mail provider for a test file; it starts each test as new. */
export function runMailProvider(): Arrangement {
  const provider = createMailProvider()
  const requests: SeenRequest[] = []
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
    waits,
    get url() {
      return server?.url ?? ''
    },
    atRequest: (count, action) => void actions.set(count, action),
    mailer: (options) =>
      createMailer({
        apiToken: 'server-token',
        fromEmail: 'Shop <shop@example.com>',
        baseUrl: server?.url,
        wait: async (milliseconds) => {
          waits.push(milliseconds)
        },
        ...options,
      }),
  }
}

/** A message that is fit to be sent. */
export function message(fields: Partial<Message> = {}): Message {
  return { to: 'ann@example.org', subject: 'Hello', textBody: 'Hi Ann', ...fields }
}

/** What a promise was rejected with, which must be an error of the family. */
export async function failureOf(work: Promise<unknown>): Promise<IntegrationError> {
  const error: unknown = await work.then(
    () => expect.fail('it should have failed'),
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
