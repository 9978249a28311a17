import type * as z from 'zod'
import type { HandledEvent, HandlerName } from './event.ts'
import type { HandlerContext } from './handler-context.ts'
import type { HealthCheck } from './health.ts'
import type { DownloadFile } from './platform.ts'

/** One function that FUNCTION_CALL may run. */
export interface FunctionDefinition {
  description: string
  /** Further names of the function. */
  aliases?: readonly string[]
  /** See `functionArguments`. */
  arguments: z.ZodObject
  result: z.ZodType
  /** Whether it creates, changes, deletes or sends something: then it runs once per delivery. */
  effectful: boolean
  /**
   * Whether it continues from `context.progress` after a crash. By default, a function with an effect never runs
   * again once a change may have left the host.
   */
  resumable?: boolean
  /**
   * Whether it sends messages, whose fates the log and the metrics tell. The result of `one` has a `messageId`; that of
   * `many` counts `sent`, `failed` and `unknown`, and has a `messageId` or `null` in each of its `results`.
   */
  sends?: 'one' | 'many'
  /**
   * The result of messages of unknown fate that an operator found at the provider, at the time `at`. `result` is the one
   * until then, if there was one. Every function that sends has this.
   */
  settled?: (found: {
    arguments: Readonly<Record<string, unknown>>
    messageId: string | null
    at: string
    result: unknown
  }) => unknown
}

/** One value that METRIC_UPDATE reports. */
export interface MetricDefinition {
  description: string
  unit?: string
}

/** The contract of an integration. Validation, types, manifest, OpenAPI and redaction derive from it. */
export interface IntegrationDefinition {
  /** The route is `POST /<name>/webhook`. */
  name: string
  title: string
  description: string
  /** The events that it handles. The response to the others is `ignored`. */
  events: readonly HandledEvent[]
  inputs: z.ZodObject
  outputs: z.ZodObject
  functions: Readonly<Record<string, FunctionDefinition>>
  metrics: Readonly<Record<string, MetricDefinition>>
  /** The files that DOWNLOAD_STARTED may ask for; the first is the default. */
  downloads: readonly string[]
}

/** The inputs of an integration, parsed. */
export type Inputs<D extends IntegrationDefinition> = z.output<D['inputs']>

/** The outputs of an integration. */
export type Outputs<D extends IntegrationDefinition> = z.output<D['outputs']>

/** Every handler that an integration can have. */
export interface EventHandlers<D extends IntegrationDefinition> {
  /** Sets the deployment up and returns the outputs to publish. Runs again at a redeploy. */
  created: (inputs: Inputs<D>, context: HandlerContext) => Promise<z.input<D['outputs']>>
  /** Takes the deployment down. A deployment that is already gone counts as taken down. */
  deleted: (context: HandlerContext) => Promise<void>
  health: (context: HandlerContext) => Promise<HealthCheck[]>
  metrics: (context: HandlerContext) => Promise<{ [Name in keyof D['metrics']]: number }>
  download: (file: D['downloads'][number], context: HandlerContext) => Promise<DownloadFile[]>
  functions: {
    [Name in keyof D['functions']]: (
      input: z.output<D['functions'][Name]['arguments']>,
      context: HandlerContext,
    ) => Promise<z.input<D['functions'][Name]['result']>>
  }
}

/**
 * The functions behind a contract: one for each event that the integration handles, and one for each of its
 * functions. Write them as `{ … } satisfies Handlers<typeof definition>`.
 */
export type Handlers<D extends IntegrationDefinition> = {
  [Event in D['events'][number] as HandlerName<Event>]: EventHandlers<D>[HandlerName<Event>]
} & {
  /**
   * Undoes `created` if the platform no longer knows the deployment when it receives the outputs. Outputs that were
   * published before may be in use, so then it is not called.
   */
  discard?: (outputs: Outputs<D>, context: HandlerContext) => Promise<void>
}
