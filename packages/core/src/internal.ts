/** For the packages and apps of this repository. Anything here may change in any release. */

export { eventNames, platformEvent } from './contract/event.ts'
export type { Json } from './contract/handler-context.ts'
export { type Manifest, manifestSchema, toManifest } from './contract/manifest.ts'
export { secretNames } from './contract/marks.ts'
export { callbackBodies } from './contract/platform.ts'
export { suggestion } from './contract/validation.ts'
export { settleDelivery, settlementSchema } from './delivery/settlement.ts'
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
