/**
 * The webhook integration for `POST /idp-server/webhook`: an application is created once for a deployment, reused by
 * every redeploy, and deleted with it.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/idp-server/webhook'
 *
 * export default { fetch: createHandler({ platform, verify, platformApiKey }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, memoryStore, type WebhookHandler } from '@org/core'
import { type IdpServerSettings, tokensOf } from './connection.ts'
import { createDeploymentHandlers } from './deployment.ts'
import { idpServer } from './integration.ts'

export type { IdpServerSettings } from './connection.ts'
export { idpServer as integration } from './integration.ts'
export { findOrphans, type Orphan, type OrphanReport, type OrphanSearch } from './orphans.ts'

/**
 * Makes the webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host's settings for provisioning
 */
export function createHandler(dependencies: HandlerDependencies & IdpServerSettings): WebhookHandler {
  const { store = memoryStore(), platformApiKey } = dependencies
  const secrets = [...(dependencies.secrets ?? []), ...tokensOf(platformApiKey)]
  const host = { ...dependencies, store, looks: new Map() }
  return createWebhookHandler(idpServer, createDeploymentHandlers(host), { ...dependencies, store, secrets })
}
