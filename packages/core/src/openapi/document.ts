/** The parts of OpenAPI 3.1 that this host's document uses. */
import type { MetricDefinition } from '../contract/integration.ts'
import type { JsonSchema } from '../contract/marks.ts'
import type { ErrorCode } from '../errors.ts'

/** A reference to a component of the document. */
export type Reference = { $ref: string }

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
  /** Every code of a failure. */
  'x-problems'?: { code: ErrorCode; status: number; title: string; retryable: boolean }[]
}

/** See {@link createComponents}. */
export type Components = ReturnType<typeof createComponents>

/** Collects the schemas of the document by name. An object with a title is a component of that name wherever it is. */
export function createComponents() {
  const schemas = new Map<string, JsonSchema>()

  /** Gives a name to a schema, unless another one has it. */
  function claim(name: string, schema: JsonSchema): boolean {
    const owner = schemas.get(name) ?? schema
    schemas.set(name, owner)
    return JSON.stringify(owner) === JSON.stringify(schema)
  }

  /**
   * Adds a schema, and those in it that have a title.
   *
   * @throws {Error} if another schema has the name
   */
  function add(name: string, schema: JsonSchema): Reference {
    const shared = JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
      const { type, title } = Object(value)
      // A field of a form has a title, too: words for people.
      const isNamed = type === 'object' && /^[A-Z]\w*$/.test(title)
      return isNamed && claim(title, Object(value)) ? refer('schemas', title) : value
    })
    if (!claim(name, shared)) throw new Error(`Two schemas have the name ${name}.`)
    return refer('schemas', name)
  }

  return { schemas, add }
}

/** The reference to a component. */
export function refer(kind: 'schemas' | 'responses' | 'parameters' | 'headers', name: string): Reference {
  return { $ref: `#/components/${kind}/${name}` }
}

/** `idp-server` as `IdpServer`, `sendEmail` as `SendEmail`, and `HEALTH_CHECK` as `HealthCheck`. */
export function toPascalCase(name: string): string {
  const words = name.includes('_') ? name.toLowerCase() : name
  return words
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('')
}
