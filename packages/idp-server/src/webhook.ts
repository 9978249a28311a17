/**
 * Provisioning as a webhook integration: mount it at `POST /idp-server/webhook`.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/idp-server/webhook'
 *
 * export default { fetch: createHandler({ platform, platformApiKey }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, type Handlers, type WebhookHandler } from '@org/core'
import type { IdpServerSettings } from './connection.ts'
import { created, deleted, discard, download, health, metrics } from './deployment.ts'
import { functions } from './functions.ts'
import { idpServer } from './integration.ts'

const handlers = { created, discard, deleted, health, metrics, download, functions } satisfies Handlers<
  typeof idpServer,
  IdpServerSettings
>

/**
 * Makes the webhook handler.
 *
 * @param dependencies what every handler takes, and what the host configures for provisioning
 */
export function createHandler({
  platformApiKey,
  platformBaseUrl,
  baseUrl,
  settleMs,
  ...dependencies
}: HandlerDependencies & IdpServerSettings): WebhookHandler {
  const secrets = [...(dependencies.secrets ?? []), ...(platformApiKey ? [platformApiKey] : [])]
  const settings = { platformApiKey, platformBaseUrl, baseUrl, settleMs }
  return createWebhookHandler(idpServer, handlers, { ...dependencies, secrets, settings })
}

export type { IdpServerSettings } from './connection.ts'
export { idpServer as integration } from './integration.ts'
