/**
 * The webhook integration for `POST /idp-server/webhook`, which provisions applications.
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
 * @param dependencies the dependencies of every handler, and the host's settings for provisioning
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
