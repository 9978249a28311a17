/**
 * For a host or a platform of your own: the routes of integrations, what they are as data, the status of deliveries, and
 * the schemas of what travels between host and platform.
 *
 * @module
 */

export { eventNames, platformEvent } from './contract/event.ts'
export type { Json } from './contract/handler-context.ts'
export { callbackBodies } from './contract/platform.ts'
export { settleDelivery, settlementSchema } from './delivery/settlement.ts'
export { deliveryStatusSchema, readDeliveryStatus } from './delivery/status.ts'
export type { RecordedResponse } from './delivery/store.ts'
export type { LogLevel } from './log.ts'
export type { OpenApiOperation } from './openapi/document.ts'
export { type Manifest, manifestSchema, toManifest } from './openapi/manifest.ts'
export { type OpenApiDocument, type RouteDescription, toOpenApi } from './openapi/openapi.ts'
export { problemSchema } from './openapi/problem-schema.ts'
export { exampleOf } from './openapi/shared.ts'
export type { OutboundCall, OutboundInit } from './pipeline/event-log.ts'
export {
  createRoutes,
  type IntegrationPackage,
  type LazyIntegration,
  type Routes,
} from './pipeline/routes.ts'
