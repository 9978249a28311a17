/**
 * The placeholder for an external identity provider (specification §1.5): it answers only challenges and
 * health checks, and has no deployment.
 */
import {
  createWebhookHandler,
  defineIntegration,
  type HandlerDependencies,
  type WebhookHandler,
} from '@org/core'
import * as z from 'zod'

/** The contract of the placeholder. */
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
