/** The emulators that the programs call, loaded from the packed packages. */
import { deepStrictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export async function startEmulators(project: string) {
  const load = (file: string) => import(pathToFileURL(join(project, 'node_modules/@org', file)).href)
  const { serve, createPlatformEmulator }: typeof import('../../packages/core/src/testing/index.ts') =
    await load('core/dist/testing/index.js')
  const { createMailProvider }: typeof import('../../packages/mailer/src/testing/index.ts') = await load(
    'mailer/dist/testing/index.js',
  )
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
      const { messageId, status, body, refused, error } = Object(outcome)
      const [sent, sentByEvent] = mail.messages
      const subjects = mail.messages.map(({ subject }) => subject)
      deepStrictEqual(subjects, ['Hello', 'From an event'])
      deepStrictEqual(
        [messageId, status, body.result?.messageId, refused, error],
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
