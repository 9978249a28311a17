// The parts of OpenAPI 3.1 that this host's document uses.

import type { EventName } from '../contract/event.ts'
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

/** One operation. */
export interface OpenApiOperation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  security: Record<string, string[]>[]
  parameters?: (OpenApiParameter | Reference)[]
  requestBody?: { required: true; content: Record<string, RequestContent> }
  responses: Record<string, OpenApiResponse | Reference>
  /** Of a webhook: each event and each function, with its request and responses. */
  'x-events'?: DescribedEvent[]
  /** Of a webhook: the metrics that METRIC_UPDATE reports, by name. */
  'x-metrics'?: Record<string, MetricDefinition>
}

/** The body of a request. */
export interface RequestContent {
  schema: Reference
  examples?: OpenApiExamples
}

/** Example values, by name. */
export type OpenApiExamples = Record<string, { value: unknown }>

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
  content?: Record<string, { schema: JsonSchema | Reference; examples?: OpenApiExamples }>
  /** Of a failure: its error codes. */
  'x-problems'?: { code: ErrorCode; title: string; retryable: boolean }[]
}

/** One event of a webhook. FUNCTION_CALL has an entry for each function. */
export interface DescribedEvent {
  event: EventName
  description: string
  /** Whether the integration handles the event. The response to any other event is `ignored`. */
  handled: boolean
  function?: {
    name: string
    aliases: string[]
    description: string
    /** Whether it creates, changes, deletes or sends something. */
    effect: boolean
    arguments: Reference
    result: Reference
  }
  request: Reference
  responses: Reference[]
}
