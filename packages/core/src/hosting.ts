/**
 * For a host of your own: the routes of integrations, what they are as data, and the status of deliveries.
 *
 * @module
 */

export { settleDelivery, settlementSchema } from './delivery/settlement.ts'
export { deliveryStatusSchema, readDeliveryStatus } from './delivery/status.ts'
export type { OpenApiOperation } from './openapi/document.ts'
export { type Manifest, manifestSchema, toManifest } from './openapi/manifest.ts'
export { type OpenApiDocument, type RouteDescription, toOpenApi } from './openapi/openapi.ts'
export type { OutboundCall, OutboundInit } from './pipeline/event-log.ts'
export {
  createRoutes,
  type IntegrationPackage,
  type LazyIntegration,
  type Routes,
} from './pipeline/routes.ts'
