/**
 * The webhook integration, for `POST /idp/webhook`, and the placeholder for an identity provider that is
 * managed elsewhere, for `POST /auth/webhook`.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/idp/webhook'
 *
 * export default { fetch: createHandler({ platform, shared: { publishableKey, secretKey } }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, type WebhookHandler } from '@org/core'
import type { IdpSettings } from './connection.ts'
import { createHandlers } from './deployment.ts'
import { idp } from './integration.ts'

/**
 * Makes the webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host's settings for the identity provider
 */
export function createHandler(dependencies: HandlerDependencies & IdpSettings): WebhookHandler {
  const { shared, secrets = [] } = dependencies
  const all = shared?.secretKey ? [...secrets, shared.secretKey] : secrets
  return createWebhookHandler(idp, createHandlers(dependencies), { ...dependencies, secrets: all })
}

export type { IdpSettings } from './connection.ts'
export { idp as integration } from './integration.ts'
export { createPlaceholderHandler, placeholder } from './placeholder.ts'
