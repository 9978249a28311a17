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

export { toProblemResponse } from './answer.ts'
export type { CallInit } from './claimed-fetch.ts'
export type { Deployment, DeploymentLog, HandlerContext, Progress } from './context.ts'
export type {
  ClaimRequest,
  ClaimResult,
  Completion,
  DeliveryStore,
  Json,
  Lease,
  RecordedAnswer,
  SubjectRecord,
} from './delivery.ts'
export { type Egress, namedHostsOnly } from './egress.ts'
export type { ErrorCode, FieldError, ProviderRefusal } from './errors.ts'
export { errorCodes, IntegrationError, type IntegrationErrorOptions, isIntegrationError } from './errors.ts'
export type { EventName, EventNamed, PlatformEvent } from './event.ts'
export { eventNames, eventSchemas, platformEvent } from './event.ts'
export { type ExplainOptions, type Explanation, explainDelivery, explanationSchema } from './explain.ts'
export { createGate, type Gate } from './gate.ts'
export { checkHealth } from './health.ts'
export type {
  FunctionDefinition,
  HandledEvent,
  Handlers,
  HealthCheck,
  Inputs,
  IntegrationDefinition,
  MetricDefinition,
  Outputs,
} from './integration.ts'
export { defineIntegration, environmentReference, secret, secretNames } from './integration.ts'
export { createJsonLogger, escapeInvisible, type Logger, type LogLevel } from './log.ts'
export { type JsonSchema, type Manifest, manifestSchema, toJsonSchema, toManifest } from './manifest.ts'
export type { EventOutcome, EventRecord, EventStep, Observer } from './observer.ts'
export type {
  DescribedEvent,
  OpenApiDocument,
  OpenApiInfo,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi/document.ts'
export type { AnswerDescription, RouteDescription } from './openapi/routes.ts'
export { toOpenApi } from './openapi.ts'
export type {
  CallbackOptions,
  DeploymentRecord,
  DeploymentStatus,
  DownloadFile,
  LogEntry,
  Metric,
  Platform,
  WriteResult,
} from './platform.ts'
export { callbackBodies } from './platform.ts'
export { type Problem, problemSchema, toProblem } from './problem.ts'
export { createRedactor, type Redactor } from './redact.ts'
export type { EnvironmentLookup } from './references.ts'
export type { Hmac, HmacKey, VerifierOptions, Verify } from './signature.ts'
export { createVerifier, sign } from './signature.ts'
export { type MemoryStoreOptions, memoryStore } from './stores/memory.ts'
export { fieldErrors, functionArguments, suggestion } from './validation.ts'
export type { HandlerDependencies, WebhookHandler } from './webhook.ts'
export { createWebhookHandler } from './webhook.ts'
