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
export interface MailFixture {
  provider: MailProvider
  requests: SeenRequest[]
  /** The provider’s base URL. */
  readonly url: string
  /** Runs an action as soon as the request of this number (from 1) arrives. */
  atRequest(number: number, action: () => void): void
  /** The pauses between attempts, in milliseconds; the tests do not wait for them. */
  waits: number[]
  mailer(options?: Partial<MailerOptions>): Mailer
}

/** Runs a mail provider for a test file, and resets it before each test. */
export function runMailProvider(): MailFixture {
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
    atRequest: (number, action) => void actions.set(number, action),
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

/** A valid message. */
export function message(fields: Partial<Message> = {}): Message {
  return { to: 'ann@example.org', subject: 'Hello', textBody: 'Hi Ann', ...fields }
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
