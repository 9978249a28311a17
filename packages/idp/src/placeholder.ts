/**
 * The generic placeholder for an external or unmanaged identity provider: it has no deployment, and answers
 * challenges and health checks alone (specification §1.5).
 *
 * @module
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
  // There is nothing of its own to probe: who gets an answer knows that the route is there.
  const handlers = { health: async () => [] }
  return createWebhookHandler(placeholder, handlers, { ...dependencies, settings: undefined })
}
