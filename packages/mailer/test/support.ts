import { serve } from '@org/core/testing'
import { runProvider } from '../../core/test/provider.ts'
import { createMailer, type MailerOptions, type Message } from '../src/index.ts'
import { createMailProvider } from '../src/testing/index.ts'

export { failureOf } from '../../core/test/provider.ts'

/** Runs a mail provider for a test file. */
export function runMailProvider() {
  const provider = createMailProvider()
  const { wait, origin, ...run } = runProvider(provider, ({ pathname }) => pathname)
  return {
    provider,
    ...run,
    /** The provider’s base URL. */
    get url() {
      return origin()
    },
    mailer: (options?: Partial<MailerOptions>) =>
      createMailer({
        apiToken: 'server-token',
        fromEmail: 'Shop <shop@example.com>',
        baseUrl: origin(),
        wait,
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

/** A URL on which nothing listens. */
export async function deadUrl(): Promise<string> {
  const server = await serve(async () => new Response())
  await server.close()
  return server.url
}
