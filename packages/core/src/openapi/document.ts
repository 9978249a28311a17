/**
 * The shapes of an OpenAPI 3.1 document, as far as this host’s has them.
 *
 * @module
 */

import type { JsonSchema } from '../contract/manifest.ts'
import type { ErrorCode } from '../errors.ts'
import type { Reference } from './components.ts'
import type { DescribedEvent } from './events.ts'

/** An OpenAPI document, as plain data. */
export interface OpenApiDocument {
  openapi: '3.1.0'
  info: OpenApiInfo & { license: { name: string; identifier: string } }
  servers: { url: string; description?: string }[]
  tags: { name: string; description: string }[]
  /** The operations of each path, by method. */
  paths: Record<string, Partial<Record<'get' | 'post', OpenApiOperation>>>
  components: {
    schemas: Record<string, JsonSchema>
    responses: Record<string, OpenApiResponse>
    parameters: Record<string, OpenApiParameter>
    headers: Record<string, { description: string; schema: JsonSchema }>
    securitySchemes: Record<string, JsonSchema>
  }
}

/** What a document says of its host. */
export interface OpenApiInfo {
  title: string
  version: string
  description?: string
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
  /** Of a webhook: each event with what it may be answered, which OpenAPI has no words for. */
  'x-events'?: DescribedEvent[]
  /** Of a webhook: what METRIC_UPDATE reports, by name. */
  'x-metrics'?: Record<string, { description: string; unit?: string }>
}

/** One parameter of an operation. */
export interface OpenApiParameter {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description: string
  schema: JsonSchema
}

/** One answer of an operation. */
export interface OpenApiResponse {
  description: string
  headers?: Record<string, Reference>
  content?: Record<string, { schema: JsonSchema | Reference; examples?: Record<string, { value: unknown }> }>
  /** Of a failure: its codes. */
  'x-problems'?: DescribedProblem[]
}

/** One code of a failure. */
export interface DescribedProblem {
  code: ErrorCode
  title: string
  retryable: boolean
}
