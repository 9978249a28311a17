/** The emulators that the programs call, loaded from the packed packages. */
import { deepStrictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The parts of the packed packages that this file uses. The compiler cannot resolve them from here. */
interface Testing {
  serve(handler: unknown): Promise<{ url: string; close(): Promise<void> }>
  createPlatformEmulator(): { fetch: unknown; calls: { path: string; status?: number }[]; reset(): void }
}
interface MailerTesting {
  createMailProvider(): { fetch: unknown; messages: { messageId: string; subject: string }[]; reset(): void }
}

/** Serves the mail provider and the platform over HTTP. */
export async function startEmulators(project: string) {
  const load = (file: string) => import(pathToFileURL(join(project, 'node_modules/@org', file)).href)
  const { serve, createPlatformEmulator }: Testing = await load('core/dist/testing/index.js')
  const { createMailProvider }: MailerTesting = await load('mailer/dist/testing/index.js')
  const [mail, platform] = [createMailProvider(), createPlatformEmulator()]
  const [mailServer, platformServer] = [await serve(mail.fetch), await serve(platform.fetch)]

  return {
    mailUrl: mailServer.url,
    platformUrl: platformServer.url,
    reset() {
      mail.reset()
      platform.reset()
    },
    /**
     * Compares the outcome of a program with the calls that the emulators received.
     *
     * @throws if they differ
     */
    check(outcome: unknown) {
      const { messageId, answered, refused, error } = Object(outcome)
      const [sent, sentByEvent] = mail.messages
      deepStrictEqual(
        [sent?.subject, sentByEvent?.subject, mail.messages.length],
        ['Hello', 'From an event', 2],
      )
      deepStrictEqual(
        [messageId, answered.status, answered.body.result?.messageId, refused, error],
        [sent?.messageId, 200, sentByEvent?.messageId, 401, 'invalid_arguments'],
      )
      const paths = platform.calls.map(({ path }) => path)
      deepStrictEqual(paths, ['/deployments/dep_1/status'])
    },
    async close() {
      await Promise.all([mailServer.close(), platformServer.close()])
    },
  }
}
