/**
 * The mailer as a webhook integration: mount it at `POST /mailer/webhook`.
 *
 * @example
 * ```ts
 * import { createPlatformClient } from '@org/platform-client'
 * import { createHandler } from '@org/mailer/webhook'
 *
 * const platform = createPlatformClient({ baseUrl: 'https://platform.example.com/api' })
 * export default { fetch: createHandler({ platform, shared: { apiToken, fromEmail: 'shop@example.com' } }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, type Handlers, type WebhookHandler } from '@org/core'
import type { MailerSettings } from './connection.ts'
import { created, deleted, health, metrics } from './deployment.ts'
import { functions } from './functions.ts'
import { mailer } from './integration.ts'

const handlers = { created, deleted, health, metrics, functions } satisfies Handlers<
  typeof mailer,
  MailerSettings
>

/**
 * Makes the mailer’s webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host’s settings of the mailer
 */
export function createHandler({
  shared,
  baseUrl,
  ...dependencies
}: HandlerDependencies & MailerSettings): WebhookHandler {
  const secrets = [...(dependencies.secrets ?? []), ...(shared?.apiToken ? [shared.apiToken] : [])]
  return createWebhookHandler(mailer, handlers, { ...dependencies, secrets, settings: { shared, baseUrl } })
}

export type { MailerSettings } from './connection.ts'
export { mailer as integration } from './integration.ts'
