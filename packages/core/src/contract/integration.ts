/**
 * The contract of an integration: what it is configured with, what it publishes, and what it can do, as data.
 * Validation, types, manifest, OpenAPI and redaction all derive from it.
 *
 * @module
 */
import * as z from 'zod'
import type { HandlerContext } from '../pipeline/context.ts'
import type { EventName } from './event.ts'
import type { DownloadFile } from './platform.ts'

/** The events that an integration may act on; WEBHOOK_CHALLENGE is answered by core. */
export type HandledEvent = Exclude<EventName, 'WEBHOOK_CHALLENGE'>

/** One function that FUNCTION_CALL may run. */
export interface FunctionDefinition {
  description: string
  /** Other names that it answers to. */
  aliases?: readonly string[]
  /** See {@link functionArguments}. */
  arguments: z.ZodObject
  result: z.ZodType
  /** Whether it creates, changes, deletes or sends something: then it happens once per delivery. */
  effect: boolean
  /**
   * Whether it goes on from what it wrote down (`context.progress`) after a crash. One that does not is never
   * run again once a change may have left the host.
   * @default false
   */
  resumable?: boolean
}

/** One value that METRIC_UPDATE reports. */
export interface MetricDefinition {
  description: string
  unit?: string
}

/** Everything that is known of an integration before an event arrives. */
export interface IntegrationDefinition {
  /** The route is `POST /<name>/webhook`. */
  name: string
  title: string
  description: string
  /** The events that it acts on; others are answered with `ignored`. */
  events: readonly HandledEvent[]
  inputs: z.ZodObject
  outputs: z.ZodObject
  functions: Readonly<Record<string, FunctionDefinition>>
  metrics: Readonly<Record<string, MetricDefinition>>
  /** The files that DOWNLOAD_STARTED can ask for; the first is the default. */
  downloads: readonly string[]
}

/** The inputs of an integration, parsed. */
export type Inputs<D extends IntegrationDefinition> = z.output<D['inputs']>

/** The outputs of an integration. */
export type Outputs<D extends IntegrationDefinition> = z.output<D['outputs']>

/** What probing one thing showed. */
export interface HealthCheck {
  name: string
  healthy: boolean
  latencyMs: number
  message?: string | undefined
}

interface HandlersByEvent<D extends IntegrationDefinition, Settings> {
  DEPLOYMENT_CREATED: {
    /** Sets the deployment up, and returns what is to be published. Runs again at a redeploy. */
    created(inputs: Inputs<D>, context: HandlerContext<Settings>): Promise<z.input<D['outputs']>>
    /** Undoes `created` where the platform, asked to take the outputs, no longer knows the deployment. */
    discard?(outputs: Outputs<D>, context: HandlerContext<Settings>): Promise<void>
  }
  DEPLOYMENT_DELETED: {
    /** Takes the deployment down; what is gone already counts as done. */
    deleted(context: HandlerContext<Settings>): Promise<void>
  }
  HEALTH_CHECK: { health(context: HandlerContext<Settings>): Promise<HealthCheck[]> }
  METRIC_UPDATE: {
    metrics(context: HandlerContext<Settings>): Promise<{ [Name in keyof D['metrics']]: number }>
  }
  DOWNLOAD_STARTED: {
    download(file: D['downloads'][number], context: HandlerContext<Settings>): Promise<DownloadFile[]>
  }
  FUNCTION_CALL: {
    functions: {
      [Name in keyof D['functions']]: (
        input: z.output<D['functions'][Name]['arguments']>,
        context: HandlerContext<Settings>,
      ) => Promise<z.input<D['functions'][Name]['result']>>
    }
  }
}

type Intersect<Union> = (Union extends unknown ? (member: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/**
 * The functions behind a contract: one for each event that it acts on, and one for each of its functions.
 * Written as `{ … } satisfies Handlers<typeof definition, Settings>`.
 */
export type Handlers<D extends IntegrationDefinition, Settings = undefined> = Intersect<
  HandlersByEvent<D, Settings>[D['events'][number]]
>

/**
 * Declares an integration.
 *
 * @returns the definition as it is, with every literal kept in its type
 * @throws {TypeError} where two functions answer to one name, or a download is declared without its event
 */
export function defineIntegration<const D extends IntegrationDefinition>(definition: D): D {
  const names = Object.entries(definition.functions).flatMap(([name, { aliases = [] }]) => [name, ...aliases])
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new TypeError(`Two functions of ${definition.name} answer to “${twice}”.`)
  if (definition.downloads.length > 0 !== definition.events.includes('DOWNLOAD_STARTED')) {
    throw new TypeError(`${definition.name}: “downloads” and the event DOWNLOAD_STARTED go together.`)
  }
  return definition
}

/** Marks a value as secret: it stays out of logs, problems and recorded answers, and is listed as sensitive. */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), writeOnly: true })
}

/** Marks an input in which `{{env.NAME}}` stands for a variable of the host's environment (specification §2.4). */
export function environmentReference<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.meta({ ...schema.meta(), environmentReference: true })
}

/** The names of the fields of an object that are marked {@link secret}. */
export function secretNames(schema: z.ZodObject): string[] {
  return markedNames(schema, 'writeOnly')
}

/** The names of the fields of an object that are marked {@link environmentReference}. */
export function referenceNames(schema: z.ZodObject): string[] {
  return markedNames(schema, 'environmentReference')
}

function markedNames(schema: z.ZodObject, mark: string): string[] {
  return Object.entries(schema.shape)
    .filter(([, field]) => isMarked(field, mark))
    .map(([name]) => name)
}

function isMarked(schema: z.core.$ZodType, mark: string): boolean {
  if (z.globalRegistry.get(schema)?.[mark] === true) return true
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return isMarked(schema.unwrap(), mark)
  }
  return false
}
