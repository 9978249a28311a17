/**
 * The webhooks of the OpenAPI document: the requests, responses and examples of each event.
 *
 * @module
 */
import * as z from 'zod'
import {
  answerSchemas,
  createdAnswer,
  functionAnswer,
  ignoredAnswer,
  metricsAnswer,
} from '../answer-schema.ts'
import { type EventName, eventNames, eventSchemas } from '../event.ts'
import type { FunctionDefinition, IntegrationDefinition } from '../integration.ts'
import { type JsonSchema, toJsonSchema } from '../manifest.ts'
import { type Components, refer, toPascalCase } from './components.ts'
import type { DescribedEvent, DescribedFunction, OpenApiExamples, OpenApiOperation } from './document.ts'
import { problemsOf, signature } from './routes.ts'

/** An object whose name tells it from the others of a union. */
type Named = z.ZodObject<{ name: z.ZodLiteral<string> | z.ZodEnum }>

/** The schemas of one function. */
export interface FunctionSchemas {
  described: DescribedFunction
  arguments: z.ZodObject
  call: Named
  answer: z.ZodType
}

/**
 * Describes the webhook of an integration.
 *
 * @param shared the functions described so far; integrations that share a function share its schemas
 */
export function describeWebhook(
  definition: IntegrationDefinition,
  components: Components,
  shared: Map<FunctionDefinition, FunctionSchemas>,
): OpenApiOperation {
  const prefix = toPascalCase(definition.name)
  const functions = Object.entries(definition.functions).map(([name, each]) => {
    const described = shared.get(each) ?? describeFunction(name, each, prefix, components)
    shared.set(each, described)
    return described
  })
  const requests: Named[] = []
  const answers = new Set<z.ZodType>()
  const examples: OpenApiExamples = {}
  const addAnswer = (schema: z.ZodType, name: string) => {
    answers.add(schema)
    return components.output(schema, name)
  }

  const events = eventNames.flatMap((name): DescribedEvent[] => {
    const general = eventSchemas[name]
    const handled = name === 'WEBHOOK_CHALLENGE' || definition.events.includes(name)
    const schema = handled ? narrowEvent(name, definition, functions, components) : general
    requests.push(schema)
    const request = components.input(schema, `${schema === general ? '' : prefix}${toPascalCase(name)}Event`)
    const common = { event: name, description: general.description ?? '', handled, request }
    if (handled && name === 'FUNCTION_CALL') {
      return functions.map(({ described, answer, arguments: input }) => {
        const functionCall = { name: described.name, arguments: exampleOf(input) }
        examples[described.name] = { value: { name, functionCall } }
        const { description } = described
        return { ...common, description, function: described, answers: [addAnswer(answer, '')] }
      })
    }
    if (handled) examples[name] = { value: exampleEvent(name, definition) }
    const possible = answersTo(name, handled, definition)
    return [{ ...common, answers: possible.map(([title, answer]) => addAnswer(answer, title)) }]
  })

  const request = components.input(oneOfNamed(requests, components), `${prefix}Event`)
  const answer = components.output(z.union([...answers]), `${prefix}Answer`)
  return {
    operationId: `post${prefix}Event`,
    tags: [definition.name],
    summary: definition.title,
    description: definition.description,
    ...signature,
    requestBody: { required: true, content: { 'application/json': { schema: request, examples } } },
    responses: {
      200: {
        description: 'The outcome of the event. Its shape depends on the event’s name.',
        headers: { 'idempotency-replayed': refer('headers', 'IdempotencyReplayed') },
        content: { 'application/json': { schema: answer } },
      },
      ...problemsOf(definition),
    },
    'x-events': events,
    ...(Object.keys(definition.metrics).length === 0 ? {} : { 'x-metrics': { ...definition.metrics } }),
  }
}

function describeFunction(
  name: string,
  { aliases = [], description, effect, arguments: input, result }: FunctionDefinition,
  prefix: string,
  components: Components,
): FunctionSchemas {
  const title = toPascalCase(name)
  const names = (kind: string) => [`${title}${kind}`, `${prefix}${title}${kind}`]
  const call = z
    .object({
      name: z.enum([name, ...aliases]),
      arguments: input.safeParse({}).success ? input.optional() : input,
    })
    .describe(description)
  const answer = functionAnswer(result)
  const described = {
    name,
    aliases: [...aliases],
    description,
    effect,
    arguments: components.input(input, ...names('Arguments')),
    result: components.output(result, ...names('Result')),
  }
  components.input(call, ...names('Call'))
  components.output(answer, ...names('Answer'))
  return { described, arguments: input, call, answer }
}

const blank = z
  .literal(['', null])
  .describe('What a form sends for a field that was left empty: it counts as left out.')

/** Narrows the schema of an event to the inputs, functions and files of an integration. */
function narrowEvent(
  name: EventName,
  definition: IntegrationDefinition,
  functions: readonly FunctionSchemas[],
  components: Components,
): Named {
  const prefix = toPascalCase(definition.name)
  const { DEPLOYMENT_CREATED, DOWNLOAD_STARTED, FUNCTION_CALL } = eventSchemas
  const describe = (schema: Named) => schema.describe(eventSchemas[name].description ?? '')
  switch (name) {
    case 'DEPLOYMENT_CREATED': {
      const inputs = toForm(definition.inputs)
      components.input(blank, 'Blank')
      components.input(inputs, `${prefix}Inputs`)
      const deployment = DEPLOYMENT_CREATED.shape.deployment
        .extend({ inputs: inputs.optional().describe('Read from the platform where they are left out.') })
        .describe('The deployment to set up.')
      components.input(deployment, `${prefix}Deployment`)
      return describe(DEPLOYMENT_CREATED.extend({ deployment }))
    }
    case 'FUNCTION_CALL': {
      if (functions.length === 0) return FUNCTION_CALL
      const calls = functions.map(({ call }) => call)
      const functionCall = oneOfNamed(calls, components)
      components.input(functionCall, `${prefix}FunctionCall`)
      return describe(FUNCTION_CALL.extend({ functionCall }))
    }
    case 'DOWNLOAD_STARTED': {
      const download = DOWNLOAD_STARTED.shape.download.unwrap()
      const { description = '' } = download.shape.file
      const file = z.enum(definition.downloads).optional().describe(description)
      return describe(DOWNLOAD_STARTED.extend({ download: download.extend({ file }).optional() }))
    }
    default:
      return eventSchemas[name]
  }
}

/** A union of objects that the components have already, with the `name` as its discriminator. */
function oneOfNamed(schemas: readonly Named[], components: Components): z.ZodType {
  const mapping = Object.fromEntries(
    schemas.flatMap((schema) => {
      const { $ref } = components.input(schema)
      return [...schema.shape.name._zod.values].map((name) => [name, $ref])
    }),
  )
  const [first, ...others] = schemas
  if (!first) return z.never()
  return z
    .discriminatedUnion('name', [first, ...others])
    .meta({ discriminator: { propertyName: 'name', mapping } })
}

/** The inputs as a form sends them: an optional field may be blank. */
function toForm(inputs: z.ZodObject): z.ZodObject {
  const fields = Object.entries(inputs.shape).map(([name, field]) => {
    if (!z.safeParse(field, undefined).success) return [name, field] as const
    return [name, z.union([field, blank]).describe(z.globalRegistry.get(field)?.description ?? '')] as const
  })
  return z.object(Object.fromEntries(fields)).meta({ ...inputs.meta() })
}

/** The responses to an event, by name; those to a function are made with the function. */
function answersTo(
  name: EventName,
  handled: boolean,
  definition: IntegrationDefinition,
): [name: string, schema: z.ZodType][] {
  const ignored: [string, z.ZodType] = ['IgnoredAnswer', ignoredAnswer]
  if (!handled || name === 'FUNCTION_CALL') return [ignored]
  const title = `${toPascalCase(name)}Answer`
  const own = toPascalCase(definition.name) + title
  if (name === 'DEPLOYMENT_CREATED') return [[own, createdAnswer(definition)], ignored]
  if (name === 'METRIC_UPDATE') return [[own, metricsAnswer(definition)]]
  return [[title, answerSchemas[name]]]
}

function exampleEvent(name: EventName, definition: IntegrationDefinition): Record<string, unknown> {
  const deployment = { id: 'dep_123' }
  switch (name) {
    case 'WEBHOOK_CHALLENGE':
      return { name, challenge: 'c_9f2b41' }
    case 'DEPLOYMENT_CREATED':
      return { name, deployment: { ...deployment, inputs: exampleOf(definition.inputs) } }
    case 'DOWNLOAD_STARTED':
      return { name, deployment, download: { id: 'dl_1', file: definition.downloads[0] } }
    default:
      return definition.events.includes('DEPLOYMENT_CREATED') ? { name, deployment } : { name }
  }
}

/** A valid value: the first of the schema’s own examples, else one with only the required fields. */
function exampleOf(schema: z.ZodType): unknown {
  const examples = schema.meta()?.examples
  return Array.isArray(examples) ? examples[0] : invent(toJsonSchema(schema, 'input'))
}

const texts: Readonly<Record<string, string>> = {
  uri: 'https://example.com',
  date: '2026-11-20',
  'date-time': '2026-11-20T09:00:00Z',
  email: 'ada@example.com',
}

function invent(schema: JsonSchema): unknown {
  const { examples, enum: values, anyOf, oneOf } = schema
  for (const choices of [examples, values]) if (Array.isArray(choices)) return choices[0]
  for (const keyword of ['const', 'default']) if (keyword in schema) return schema[keyword]
  for (const schemas of [anyOf, oneOf]) if (Array.isArray(schemas)) return invent(asSchema(schemas[0]))
  switch (schema.type) {
    case 'object': {
      const properties = asSchema(schema.properties)
      const required = Array.isArray(schema.required) ? schema.required.map(String) : []
      return Object.fromEntries(required.map((name) => [name, invent(asSchema(properties[name]))]))
    }
    case 'array':
      return [invent(asSchema(schema.items))]
    case 'boolean':
      return true
    case 'integer':
    case 'number':
      return 1
    default:
      return texts[String(schema.format)] ?? 'text'
  }
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
