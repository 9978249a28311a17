/** The example service as a webhook integration: mount it at `POST /example-service/webhook`. */
import { createWebhookHandler, type HandlerDependencies, type WebhookHandler } from '@org/core'
import type { ExampleServiceSettings } from './connection.ts'
import { createDeploymentHandlers } from './deployment.ts'
import { createFunctions } from './functions.ts'
import { exampleService } from './integration.ts'

/**
 * Makes the webhook handler of the example service.
 *
 * @param dependencies the platform and everything else that a host provides, and the settings of this integration
 */
export function createHandler({
  shared,
  baseUrl,
  ...dependencies
}: HandlerDependencies & ExampleServiceSettings): WebhookHandler {
  const settings = { shared, baseUrl }
  const secrets = [...(dependencies.secrets ?? []), ...(shared?.apiToken ? [shared.apiToken] : [])]
  const handlers = { ...createDeploymentHandlers(settings), functions: createFunctions(settings) }
  return createWebhookHandler(exampleService, handlers, { ...dependencies, secrets })
}

/** Reads the settings from the variables of a host, which it calls `INTEGRATION_EXAMPLE_SERVICE_API_BASE` and so on. */
export function readSettings({
  SHARED_API_TOKEN: apiToken,
  API_BASE: baseUrl,
}: Readonly<Record<string, string | undefined>>): ExampleServiceSettings {
  return { shared: { apiToken }, baseUrl }
}

export type { ExampleServiceSettings } from './connection.ts'
export { exampleService as integration } from './integration.ts'
