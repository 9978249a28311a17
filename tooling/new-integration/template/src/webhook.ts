/**
 * The example service as a webhook integration: mount it at `POST /example-service/webhook`.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/example-service/webhook'
 * import { createPlatformClient } from '@org/platform-client'
 *
 * const platform = createPlatformClient({ baseUrl: 'https://platform.example.com/api' })
 * export default { fetch: createHandler({ platform, shared: { apiToken } }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, type Handlers, type WebhookHandler } from '@org/core'
import type { ExampleServiceSettings } from './connection.ts'
import { created, deleted, health, metrics } from './deployment.ts'
import { functions } from './functions.ts'
import { exampleService } from './integration.ts'

const handlers = { created, deleted, health, metrics, functions } satisfies Handlers<
  typeof exampleService,
  ExampleServiceSettings
>

/**
 * Makes the webhook handler of the example service.
 *
 * @param dependencies what every handler takes, and what the host configures for this one
 */
export function createHandler({
  shared,
  baseUrl,
  ...dependencies
}: HandlerDependencies & ExampleServiceSettings): WebhookHandler {
  const secrets = [...(dependencies.secrets ?? []), ...(shared?.apiToken ? [shared.apiToken] : [])]
  const settings = { shared, baseUrl }
  return createWebhookHandler(exampleService, handlers, { ...dependencies, secrets, settings })
}

export type { ExampleServiceSettings } from './connection.ts'
export { exampleService as integration } from './integration.ts'
