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
import { createWebhookHandler, type HandlerDependencies, type Handlers, type WebhookHandler } from '@org/core'
import type { IdpSettings } from './connection.ts'
import { created, deleted, download, health, metrics } from './deployment.ts'
import { functions } from './functions.ts'
import { idp } from './integration.ts'

const handlers = { created, deleted, health, metrics, download, functions } satisfies Handlers<
  typeof idp,
  IdpSettings
>

/**
 * Makes the webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host's settings for the identity provider
 */
export function createHandler({
  shared,
  baseUrl,
  ...dependencies
}: HandlerDependencies & IdpSettings): WebhookHandler {
  const secrets = [...(dependencies.secrets ?? []), ...(shared?.secretKey ? [shared.secretKey] : [])]
  return createWebhookHandler(idp, handlers, { ...dependencies, secrets, settings: { shared, baseUrl } })
}

export type { IdpSettings } from './connection.ts'
export { idp as integration } from './integration.ts'
export { createPlaceholderHandler, placeholder } from './placeholder.ts'
