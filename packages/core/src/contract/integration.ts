import * as z from 'zod'
import { eventNames, type HandlerName } from './event.ts'
import type { HandlerContext } from './handler-context.ts'
import type { HealthCheck } from './health.ts'
import { type Direction, findSchemaFaults } from './marks.ts'
import type { DownloadFile } from './platform.ts'

const text = z.string().regex(/\S/, 'must not be blank')

/** A schema whose marks core finds in data, and whose values JSON can hold. */
function schemaOf<Schema extends z.ZodType>(
  io: Direction,
  isOfKind: (schema: z.core.$ZodType) => boolean,
  expected: string,
) {
  return z
    .custom<Schema>((value) => value instanceof z.core.$ZodType && isOfKind(value), `expected ${expected}`)
    .superRefine((schema, context) => {
      for (const { path, message } of findSchemaFaults(schema, io))
        context.addIssue({ code: 'custom', path, message })
    })
}
const isObject = (schema: z.core.$ZodType) => schema instanceof z.core.$ZodObject
const isStrict = (schema: z.core.$ZodType) =>
  schema instanceof z.core.$ZodObject && schema._zod.def.catchall?._zod.def.type === 'never'

/** Makes the result of messages of unknown fate that an operator found at the provider, at the time `at`. */
type Settle = (found: {
  arguments: Readonly<Record<string, unknown>>
  messageId: string | null
  at: string
  /** The result until then, if there was one. */
  result: unknown
}) => unknown

const WORD = /^[A-Za-z]\w*$/
const isUnique = (names: readonly string[]) => new Set(names).size === names.length

const calledFunction = z
  .strictObject({
    description: text,
    /** Further names of the function. */
    aliases: z.array(z.string()).readonly().optional(),
    /** See `functionArguments`. */
    arguments: schemaOf<z.ZodObject>(
      'input',
      isStrict,
      'functionArguments(…), which refuses unknown arguments',
    ).refine(
      (schema) =>
        [schema.meta()?.examples ?? []].flat().every((example) => schema.safeParse(example).success),
      'refuse an example of their own',
    ),
    result: schemaOf<z.ZodType>('output', () => true, 'a schema of zod 4'),
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
  .refine(
    ({ effectful, resumable, sends }) => effectful || !(resumable || sends),
    'is resumable or sends, so it is effectful, too',
  )
  .refine(({ sends, settled }) => !sends || settled, {
    path: ['settled'],
    error: 'is required: every function that sends has it',
  })

/** One function that FUNCTION_CALL may run. */
export interface FunctionDefinition extends z.infer<typeof calledFunction> {}

const namesOf = (functions: Readonly<Record<string, FunctionDefinition>>) =>
  Object.entries(functions).flatMap(([name, { aliases = [] }]) => [name, ...aliases])

const reportedMetric = z.strictObject({ description: text, unit: text.optional() })

/** One value that METRIC_UPDATE reports. */
export interface MetricDefinition extends z.infer<typeof reportedMetric> {}

/** The parts of a definition that go with an event. */
const counterparts = [
  ['functions', 'FUNCTION_CALL'],
  ['metrics', 'METRIC_UPDATE'],
  ['downloads', 'DOWNLOAD_STARTED'],
] as const

/** The schema of a definition. */
export const definitionSchema = z
  .strictObject({
    /** The route is `POST /<name>/webhook`. */
    name: z.string().regex(/^[a-z][a-z\d]*(-[a-z\d]+)*$/, 'expected lower-case words joined by hyphens'),
    title: text,
    description: text,
    /** The events that it handles. The response to the others is `ignored`. */
    events: z
      .array(z.enum(eventNames).exclude(['WEBHOOK_CHALLENGE']))
      .refine(isUnique, 'name an event twice')
      .readonly(),
    inputs: schemaOf<z.ZodObject>('input', isObject, 'z.object(…)'),
    outputs: schemaOf<z.ZodObject>('output', isObject, 'z.object(…)'),
    functions: z
      .record(z.string(), calledFunction)
      .refine(
        (functions) => namesOf(functions).every((name) => WORD.test(name)),
        'have a name that is no word',
      )
      .refine((functions) => isUnique(namesOf(functions)), 'have a name or an alias twice')
      .readonly(),
    metrics: z.record(z.string(), reportedMetric).readonly(),
    /** The files that DOWNLOAD_STARTED may ask for; the first is the default. */
    downloads: z.array(text).readonly(),
  })
  .superRefine((definition, context) => {
    for (const [part, event] of counterparts) {
      const hasSome = Object.keys(definition[part]).length > 0
      if (hasSome === definition.events.includes(event)) continue
      const message = hasSome ? `need the event ${event}` : `are missing: ${event} is an event of it`
      context.addIssue({ code: 'custom', path: [part], message })
    }
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
