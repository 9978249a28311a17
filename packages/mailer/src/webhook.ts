/**
 * The mailer as a webhook integration: mount it at `POST /mailer/webhook`.
 *
 * @example
 * ```ts
 * import { createVerifier } from '@org/core'
 * import { createPlatformClient } from '@org/platform-client'
 * import { createHandler } from '@org/mailer/webhook'
 *
 * const platform = createPlatformClient({ baseUrl: 'https://platform.example.com/api' })
 * const verify = createVerifier({ secrets: ['whsec_…'] })
 * export default { fetch: createHandler({ platform, verify, shared: { apiToken } }) }
 * ```
 * @module
 */
import { createWebhookHandler, type HandlerDependencies, type WebhookHandler } from '@org/core'
import { DEFAULT_BASE_URL } from './client.ts'
import { createHostMemory, type MailerSettings } from './connection.ts'
import { createDeploymentHandlers } from './deployment.ts'
import { createFunctions } from './functions.ts'
import { mailer } from './integration.ts'

/**
 * Makes the mailer’s webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host’s settings of the mailer
 */
export function createHandler({
  shared,
  baseUrl = DEFAULT_BASE_URL,
  ...dependencies
}: HandlerDependencies & MailerSettings): WebhookHandler {
  const secrets = [...(dependencies.secrets ?? []), ...(shared?.apiToken ? [shared.apiToken] : [])]
  const settings = { shared, baseUrl, memory: createHostMemory() }
  const handlers = { ...createDeploymentHandlers(settings), functions: createFunctions(settings) }
  return createWebhookHandler(mailer, handlers, { ...dependencies, secrets })
}

export type { MailerSettings } from './connection.ts'
export { mailer as integration } from './integration.ts'
