import { createPlatformEmulator, deliver } from '@org/core/testing'
import { createPlatformClient } from '@org/platform-client'
import { afterEach, beforeEach, expect } from 'vitest'
import { runProvider } from '../../core/test/provider.ts'
import { createHandler } from '../src/webhook.ts'
import { runMailProvider } from './support.ts'

/**
 * Runs the mailer’s webhook between a mail provider and a platform, both over real HTTP, for a test file. They
 * are reset before each test.
 */
export function runWebhook() {
  const mail = runMailProvider()
  const platform = createPlatformEmulator({ token: 'platform-token' })
  const { origin } = runProvider(platform)
  const log: string[] = []
  let handle: ReturnType<typeof createHandler>

  /** Makes a handler with the shared token `shared-token`; the given dependencies override the defaults. */
  const handler = (dependencies: Partial<Parameters<typeof createHandler>[0]> = {}) =>
    createHandler({
      platform: createPlatformClient({ baseUrl: origin(), token: 'platform-token', backoffMs: 0 }),
      verify: 'none',
      shared: { apiToken: 'shared-token', fromEmail: 'Shop <shop@example.com>' },
      baseUrl: mail.url,
      logger: (...line) => void log.push(JSON.stringify(line)),
      ...dependencies,
    })

  beforeEach(() => {
    log.length = 0
    mail.provider.settings.apiTokens = ['shared-token', 'dedicated-token']
    handle = handler()
  })
  afterEach(() => expect(log.join('\n')).not.toMatch(/private words|@example|(shared|dedicated)-token/))

  /** Delivers an event to the handler of the running test. */
  const send = (event: object, id?: string) => deliver((request) => handle(request), event, { id })
  return Object.assign(mail, {
    platform,
    log,
    handler,
    send,
    /** The tokens that the provider got. */
    tokens: () => mail.requests.map(({ headers }) => headers.get('x-mailer-server-token')),
    /** Calls a function without a deployment. */
    call: (name: string, given: object, id?: string) =>
      send({ name: 'FUNCTION_CALL', functionCall: { name, arguments: given } }, id),
  })
}
