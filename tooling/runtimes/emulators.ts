/**
 * The emulators that the programs speak to, out of the packages as they are published.
 *
 * @module
 */
import { deepStrictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The mail provider and the platform, over real HTTP. */
export interface Emulators {
  mailUrl: string
  platformUrl: string
  /** Forgets what was done so far. */
  reset(): void
  /**
   * Holds the outcome of a program to what the emulators saw.
   *
   * @throws where they differ
   */
  check(outcome: unknown): void
  close(): Promise<void>
}

/** The parts of the packages that are used here. They are not resolved from here, so their types are not known. */
interface Served {
  url: string
  close(): Promise<void>
}
interface Testing {
  serve(handler: unknown): Promise<Served>
  createPlatformEmulator(): { fetch: unknown; calls: { path: string; status?: number }[]; reset(): void }
}
interface MailerTesting {
  createMailProvider(): { fetch: unknown; messages: { messageId: string; subject: string }[]; reset(): void }
}

/** Starts the emulators of a project's packages. */
export async function startEmulators(project: string): Promise<Emulators> {
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
    check(outcome) {
      const ids = mail.messages.map(({ messageId }) => messageId)
      deepStrictEqual(
        mail.messages.map(({ subject }) => subject),
        ['Hello', 'From an event'],
      )
      const { messageId, answered, refused, error } = Object(outcome)
      deepStrictEqual(
        [messageId, answered.status, answered.body.result?.messageId, refused, error],
        [ids[0], 200, ids[1], 401, 'invalid_arguments'],
      )
      deepStrictEqual(
        platform.calls.map(({ path }) => path),
        ['/deployments/dep_1/status'],
      )
    },
    async close() {
      await Promise.all([mailServer.close(), platformServer.close()])
    },
  }
}
