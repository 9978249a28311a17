import { createPlatformEmulator, deliver, type Served, serve } from '@org/core/testing'
import { createPlatformClient } from '@org/platform-client'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { createHandler } from '../src/webhook.ts'
import { runMailProvider } from './support.ts'

type Dependencies = Parameters<typeof createHandler>[0]

/** Tokens that may occur only in headers and among the published outputs. */
const TOKENS = ['shared-token', 'dedicated-token', 'wrong-token']

/**
 * Runs the mailer’s webhook between a mail provider and a platform, both over real HTTP, for a test file. They
 * are reset before each test.
 */
export function runWebhook() {
  const mail = runMailProvider()
  const platform = createPlatformEmulator({ token: 'platform-token' })
  const log: string[] = []
  let server: Served | undefined
  let handle: ReturnType<typeof createHandler>

  /** Makes a handler with the shared token `shared-token`; the given dependencies override the defaults. */
  const handler = (dependencies: Partial<Dependencies> = {}) =>
    createHandler({
      platform: createPlatformClient({
        baseUrl: server?.url ?? '',
        token: 'platform-token',
        backoffMs: 0,
      }),
      verify: 'none',
      shared: { apiToken: 'shared-token', fromEmail: 'Shop <shop@example.com>' },
      baseUrl: mail.url,
      logger: (...line) => void log.push(JSON.stringify(line)),
      ...dependencies,
    })

  beforeAll(async () => {
    server = await serve(platform.fetch)
  })
  afterAll(() => server?.close())
  beforeEach(() => {
    platform.reset()
    log.length = 0
    mail.provider.settings.apiTokens = ['shared-token', 'dedicated-token']
    handle = handler()
  })
  afterEach(() => {
    const reported = platform.calls.filter(({ path }) => !path.endsWith('/outputs'))
    for (const token of TOKENS) expect(log.join('\n') + JSON.stringify(reported)).not.toContain(token)
    expect(log.join('\n')).not.toMatch(/private words|@example/)
  })

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
