/**
 * The contract that every integration is written against, and the pipeline that runs it.
 *
 * @example
 * ```ts
 * const definition = defineIntegration({ name: 'greeter', … })
 * const handlers = { … } satisfies Handlers<typeof definition>
 * export const handle = createWebhookHandler(definition, handlers, { platform, settings: undefined })
 * ```
 * @module
 */

export { toProblemResponse } from './response.ts'
export type { CallInit } from './pipeline/outbound.ts'
export type { Deployment, DeploymentLog, HandlerContext, Progress } from './pipeline/context.ts'
export type {
  ClaimRequest,
  ClaimResult,
  Completion,
  DeliveryStore,
  Json,
  Lease,
  RecordedAnswer,
  SubjectRecord,
} from './delivery/store.ts'
export { type Egress, namedHostsOnly } from './http/egress.ts'
export type { ErrorCode, FieldError, ProviderRefusal } from './errors.ts'
export { errorCodes, IntegrationError, type IntegrationErrorOptions, isIntegrationError } from './errors.ts'
export type { EventName, EventNamed, PlatformEvent } from './contract/event.ts'
export { eventNames, eventSchemas, platformEvent } from './contract/event.ts'
export { type ExplainOptions, type Explanation, explainDelivery, explanationSchema } from './delivery/status.ts'
export { createGate, type Gate } from './pipeline/limit.ts'
export { checkHealth } from './contract/health.ts'
export type {
  FunctionDefinition,
  HandledEvent,
  Handlers,
  HealthCheck,
  Inputs,
  IntegrationDefinition,
  MetricDefinition,
  Outputs,
} from './contract/integration.ts'
export { defineIntegration, environmentReference, secret, secretNames } from './contract/integration.ts'
export { createJsonLogger, escapeInvisible, type Logger, type LogLevel } from './log.ts'
export { type JsonSchema, type Manifest, manifestSchema, toJsonSchema, toManifest } from './contract/manifest.ts'
export type { EventOutcome, EventRecord, EventStep, Observer } from './pipeline/observer.ts'
export type {
  DescribedProblem,
  OpenApiDocument,
  OpenApiInfo,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi/document.ts'
export type { DescribedEvent } from './openapi/events.ts'
export type { DescribedFunction } from './openapi/functions.ts'
export type { AnswerDescription, RouteDescription } from './openapi/routes.ts'
export { toOpenApi } from './openapi/document-root.ts'
export type {
  CallbackOptions,
  DeploymentRecord,
  DeploymentStatus,
  DownloadFile,
  LogEntry,
  Metric,
  Platform,
  WriteResult,
} from './contract/platform.ts'
export { callbackBodies } from './contract/platform.ts'
export { type Problem, problemSchema, toProblem } from './problem.ts'
export { createRedactor, type Redactor } from './redact.ts'
export type { EnvironmentLookup } from './contract/references.ts'
export type { Hmac, HmacKey, VerifierOptions, Verify } from './request/signature.ts'
export { createVerifier, sign } from './request/signature.ts'
export { type MemoryStoreOptions, memoryStore } from './delivery/stores/memory.ts'
export { fieldErrors, functionArguments, suggestion } from './contract/validation.ts'
export type { HandlerDependencies, WebhookHandler } from './pipeline/webhook.ts'
export { createWebhookHandler } from './pipeline/webhook.ts'
