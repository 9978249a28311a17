/**
 * The contract that every integration is written against, and the pipeline that runs it.
 *
 * @example
 * ```ts
 * const definition = defineIntegration({ name: 'greeter', … })
 * const handlers = { … } satisfies Handlers<typeof definition>
 * export const handle = createWebhookHandler(definition, handlers, { platform, verify })
 * ```
 * @module
 */

export { defineIntegration } from './contract/definition.ts'
export type { EventName, PlatformEvent } from './contract/event.ts'
export { asksFor, choices } from './contract/form.ts'
export type { Deployment, Egress, HandlerContext, Progress } from './contract/handler-context.ts'
export { checkHealth, type HealthCheck } from './contract/health.ts'
export type {
  FunctionDefinition,
  Handlers,
  Inputs,
  IntegrationDefinition,
  Outputs,
} from './contract/integration.ts'
export { environmentReference, immutable, secret, token } from './contract/marks.ts'
export type {
  CallbackOptions,
  DeploymentRecord,
  DeploymentStatus,
  DownloadFile,
  Platform,
  WriteResult,
} from './contract/platform.ts'
export { functionArguments } from './contract/validation.ts'
export type { DeliveryStore } from './delivery/store.ts'
export { memoryStore } from './delivery/stores/memory.ts'
export {
  type ErrorCode,
  type FieldError,
  IntegrationError,
  isIntegrationError,
} from './errors.ts'
export { createJsonLogger, type Logger } from './log.ts'
export type { EventRecord, Observer } from './pipeline/event-log.ts'
export type { EnvironmentLookup, HandlerDependencies } from './pipeline/options.ts'
export { createWebhookHandler, type WebhookHandler } from './pipeline/webhook.ts'
export { createConcurrencyLimit } from './request/capacity.ts'
export { createVerifier, sign, type Verify } from './request/signature.ts'
