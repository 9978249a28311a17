/** For the packages and apps of this repository. Anything here may change in any release. */

export { eventNames, platformEvent } from './contract/event.ts'
export type { Json } from './contract/handler-context.ts'
export { type JsonSchema, toJsonSchema } from './contract/json-schema.ts'
export { type Manifest, manifestSchema, toManifest } from './contract/manifest.ts'
export { orReference, parsedByFunction, secretNames } from './contract/marks.ts'
export { callbackBodies } from './contract/platform.ts'
export { suggestion } from './contract/validation.ts'
export { readRecordedDeployment, readResourceOwner } from './delivery/ownership.ts'
export { deliveryStatusSchema, readDeliveryStatus } from './delivery/status.ts'
export type { Lease, RecordedResponse } from './delivery/store.ts'
export { errorCodes } from './errors.ts'
export type { LogLevel } from './log.ts'
export type {
  OpenApiDocument,
  OpenApiOperation,
} from './openapi/document.ts'
export { exampleOf } from './openapi/examples.ts'
export { toOpenApi } from './openapi/openapi.ts'
export type { RouteDescription } from './openapi/routes.ts'
export type { OutboundCall } from './pipeline/event-log.ts'
export type { OutboundInit } from './pipeline/outbound.ts'
export { problemSchema } from './problem-schema.ts'
export { parseArguments } from './request/fields.ts'
export { createShares, type Release, type Shares } from './shares.ts'
