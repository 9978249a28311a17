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
import { createWebhookHandler, type HandlerDependencies, type WebhookHandler } from '@org/core'
import { createFunctions } from '@org/idp/instance'
import { connect, type IdpServerSettings } from './connection.ts'
import { createDeploymentHandlers } from './deployment.ts'
import { idpServer } from './integration.ts'

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
  const functions = createFunctions((context) => connect(context, settings))
  const handlers = { ...createDeploymentHandlers(settings), functions }
  return createWebhookHandler(idpServer, handlers, { ...dependencies, secrets })
}

export type { IdpServerSettings } from './connection.ts'
export { idpServer as integration } from './integration.ts'
export { findOrphans, type Orphan, type OrphanReport, type OrphanSearch } from './orphans.ts'
