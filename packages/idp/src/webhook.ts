/**
 * The webhook integration, for `POST /idp/webhook`, and the placeholder for an identity provider that is
 * managed elsewhere, for `POST /auth/webhook`.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/idp/webhook'
 *
 * export default { fetch: createHandler({ platform, verify, shared: { publishableKey, secretKey } }) }
 * ```
 * @module
 */
import {
  createWebhookHandler,
  defineIntegration,
  type HandlerDependencies,
  type WebhookHandler,
} from '@org/core'
import * as z from 'zod'
import type { IdpSettings } from './connection.ts'
import { createDeploymentHandlers } from './deployment.ts'
import { idp } from './integration.ts'

export type { IdpSettings } from './connection.ts'
export { idp as integration } from './integration.ts'

/**
 * Makes the webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host's settings for the identity provider
 */
export function createHandler(dependencies: HandlerDependencies & IdpSettings): WebhookHandler {
  const { shared, secrets = [] } = dependencies
  const all = shared?.secretKey ? [...secrets, shared.secretKey] : secrets
  return createWebhookHandler(idp, createDeploymentHandlers(dependencies), { ...dependencies, secrets: all })
}

/**
 * The contract of the placeholder for an external identity provider (specification §1.5): it answers only challenges and
 * health checks, and has no deployment.
 */
export const placeholder = defineIntegration({
  name: 'auth',
  title: 'External identity provider',
  description: 'Stands in for an identity provider that is managed elsewhere. It has no deployment.',
  events: ['HEALTH_CHECK'],
  inputs: z.object({}),
  outputs: z.object({}),
  functions: {},
  metrics: {},
  downloads: [],
})

/** Makes the placeholder’s webhook handler. */
export function createPlaceholderHandler(dependencies: HandlerDependencies): WebhookHandler {
  // There is nothing to probe: the response itself proves that the route works.
  const handlers = { health: async () => [] }
  return createWebhookHandler(placeholder, handlers, dependencies)
}
