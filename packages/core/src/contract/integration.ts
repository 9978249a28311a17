import * as z from 'zod'
import { eventNames, type HandlerName } from './event.ts'
import type { HandlerContext } from './handler-context.ts'
import type { HealthCheck } from './health.ts'
import type { DownloadFile } from './platform.ts'

const text = z.string().regex(/\S/, 'must not be blank')
const fields = z.custom<z.ZodObject>((value) => value instanceof z.core.$ZodObject, 'expected z.object(…)')
const strictFields = z.custom<z.ZodObject>(
  (value) => value instanceof z.core.$ZodObject && value._zod.def.catchall?._zod.def.type === 'never',
  'expected functionArguments(…), which refuses unknown arguments',
)

/** Makes the result of messages of unknown fate that an operator found at the provider, at the time `at`. */
type Settle = (found: {
  arguments: Readonly<Record<string, unknown>>
  messageId: string | null
  at: string
  /** The result until then, if there was one. */
  result: unknown
}) => unknown

const calledFunction = z.strictObject({
  description: text,
  /** Further names of the function. */
  aliases: z.array(z.string()).readonly().optional(),
  /** See `functionArguments`. */
  arguments: strictFields,
  result: z.custom<z.ZodType>((value) => value instanceof z.core.$ZodType, 'expected a schema of zod 4'),
  /** Whether it creates, changes, deletes or sends something: then it runs once per delivery. */
  effectful: z.boolean(),
  /**
   * Whether it continues from `context.progress` after a crash. By default, a function with an effect never runs
   * again once a change may have left the host.
   */
  resumable: z.boolean().optional(),
  /**
   * Whether it sends messages, whose fates the log and the metrics tell. The result of `one` has a `messageId`; that of
   * `many` counts `sent`, `failed` and `unknown`, and has a `messageId` or `null` in each of its `results`.
   */
  sends: z.enum(['one', 'many']).optional(),
  /** Every function that sends has this. */
  settled: z.custom<Settle>((value) => typeof value === 'function', 'expected a function').optional(),
})

/** One function that FUNCTION_CALL may run. */
export interface FunctionDefinition extends z.infer<typeof calledFunction> {}

const reportedMetric = z.strictObject({ description: text, unit: text.optional() })

/** One value that METRIC_UPDATE reports. */
export interface MetricDefinition extends z.infer<typeof reportedMetric> {}

/** The schema of a definition. Core checks further rules, too. */
export const definitionSchema = z.strictObject({
  /** The route is `POST /<name>/webhook`. */
  name: z.string().regex(/^[a-z][a-z\d]*(-[a-z\d]+)*$/, 'expected lower-case words joined by hyphens'),
  title: text,
  description: text,
  /** The events that it handles. The response to the others is `ignored`. */
  events: z
    .array(z.enum(eventNames).exclude(['WEBHOOK_CHALLENGE']))
    .refine((events) => new Set(events).size === events.length, 'name an event twice')
    .readonly(),
  inputs: fields,
  outputs: fields,
  functions: z.record(z.string(), calledFunction).readonly(),
  metrics: z.record(z.string(), reportedMetric).readonly(),
  /** The files that DOWNLOAD_STARTED may ask for; the first is the default. */
  downloads: z.array(text).readonly(),
})

/** The contract of an integration. Validation, types, manifest, OpenAPI and redaction derive from it. */
export interface IntegrationDefinition extends z.infer<typeof definitionSchema> {}

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
