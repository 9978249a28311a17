// The parts of OpenAPI 3.1 that this host's document uses.

import type { MetricDefinition } from '../contract/integration.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import type { ErrorCode } from '../errors.ts'

/** A reference to a component of the document. */
export type Reference = { $ref: string }

/** Title, version and description of the host. */
export interface OpenApiInfo {
  title: string
  version: string
  description?: string
}

/** An OpenAPI document, as plain data. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: OpenApiInfo & { license: { name: string; identifier: string } }
  servers: { url: string; description: string }[]
  tags: { name: string; description: string }[]
  /** The operation of each path: a webhook takes POST, as a route with a body does, any other GET. */
  paths: Record<string, { get?: OpenApiOperation; post?: OpenApiOperation }>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, OpenApiResponse>
    parameters: Record<string, OpenApiParameter>
    headers: Record<string, { description: string; schema: JsonSchema }>
    securitySchemes: Record<string, JsonSchema>
  }
}

/** One operation. */
export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: (OpenApiParameter | Reference)[]
  requestBody?: {
    required: true
    content: Record<string, { schema: Reference; examples: Record<string, { value: unknown }> }>
  }
  responses: Record<string, OpenApiResponse | Reference>
  /** The successful responses of a webhook to each event and function, by its name. */
  'x-responses'?: Record<string, Reference[]>
  /** The metrics that METRIC_UPDATE reports, by name. */
  'x-metrics'?: Record<string, MetricDefinition>
}

/** One parameter of an operation. */
export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}

/** One response of an operation. */
export interface OpenApiResponse {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, { schema: JsonSchema | Reference }>
  /** The error codes of a failure. */
  'x-problems'?: { code: ErrorCode; title: string; retryable: boolean }[]
}
