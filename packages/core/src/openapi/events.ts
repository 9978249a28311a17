import * as z from 'zod'
import { type EventName, eventNames, eventSchemas } from '../contract/event.ts'
import { eventTraits } from '../contract/event-traits.ts'
import { withOrder } from '../contract/form.ts'
import type { FunctionDefinition, IntegrationDefinition } from '../contract/integration.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import { createdResponse, ignoredResponse, metricsResponse, responseSchemas } from '../contract/responses.ts'
import { type Components, refer, toPascalCase } from './components.ts'
import type {
  DescribedEvent,
  OpenApiDocument,
  OpenApiExamples,
  Reference,
  RequestContent,
} from './document.ts'
import { problemsOf, signature } from './routes.ts'

/** A member of a union, with its name as the discriminator. */
type Named = z.ZodObject<{ name: z.ZodLiteral<string> | z.ZodEnum }>

type FunctionSchemas = ReturnType<typeof describeFunction>

/**
 * Describes the webhook of an integration: one operation with every event, and one for each event and function that
 * the integration handles, for clients with types. An operation of one event has a fragment in its path, as in
 * `/mailer/webhook#sendEmail`: HTTP clients do not send a fragment, so that all are one route.
 *
 * @param shared the functions described so far; integrations that share a function share its schemas
 * @returns the operations by path
 */
export function describeWebhook(
  definition: IntegrationDefinition,
  components: Components,
  shared: Map<FunctionDefinition, FunctionSchemas>,
): OpenApiDocument['paths'] {
  const prefix = toPascalCase(definition.name)
  const functions = Object.entries(definition.functions).map(([name, each]) => {
    const schemas = shared.get(each) ?? describeFunction(name, each, prefix, components)
    shared.set(each, schemas)
    return schemas
  })
  const requests: Named[] = []
  const responses = new Set<z.ZodType>()
  const examples: OpenApiExamples = {}
  const addResponse = (schema: z.ZodType, ...names: string[]) => {
    responses.add(schema)
    return components.output(schema, ...names)
  }

  const events = eventNames.flatMap((name): DescribedEvent[] => {
    const general = eventSchemas[name]
    const handled = name === 'WEBHOOK_CHALLENGE' || definition.events.includes(name)
    const request = handled ? narrowEvent(name, definition, functions, components) : general
    requests.push(request)
    const title = `${request === general ? '' : prefix}${toPascalCase(name)}Event`
    const { description = '' } = general
    const common = { event: name, description, handled, request: components.input(request, title) }
    if (handled && name === 'FUNCTION_CALL') {
      return functions.map(({ described, request, response, example }) => {
        const functionCall = { name: described.name, arguments: example }
        examples[described.name] = { value: { name, functionCall } }
        const { description } = described
        return { ...common, description, function: described, request, responses: [addResponse(response)] }
      })
    }
    if (handled) examples[name] = { value: { name, ...exampleEvent(name, definition) } }
    const responses = responsesTo(name, handled, definition)
    return [{ ...common, responses: responses.map(([title, response]) => addResponse(response, title)) }]
  })

  const schema = components.input(oneOfNamed(requests, components), `${prefix}Event`)
  const response = components.output(z.union([...responses]), `${prefix}Response`)
  const path = `/${definition.name}/webhook`
  const describe = (request: RequestContent, response: JsonSchema | Reference) => ({
    tags: [definition.name],
    ...signature,
    requestBody: { required: true as const, content: { 'application/json': request } },
    responses: {
      200: {
        description: 'The outcome of the event.',
        headers: { 'idempotency-replayed': refer('headers', 'IdempotencyReplayed') },
        content: { 'application/json': { schema: response } },
      },
      ...problemsOf(definition),
    },
  })
  const own = events
    .filter(({ handled }) => handled)
    .map(({ event, function: called, description, request, responses: [first, ...others] }) => {
      const name = called?.name ?? event
      const response = first && others.length === 0 ? first : { oneOf: [first, ...others] }
      const operation = {
        operationId: `${prefix.slice(0, 1).toLowerCase()}${prefix.slice(1)}${toPascalCase(name)}`,
        summary: name,
        description,
        ...describe({ schema: request }, response),
      }
      return [`${path}#${name}`, { post: operation }]
    })
  const general = {
    operationId: `post${prefix}Event`,
    summary: definition.title,
    description: definition.description,
    ...describe({ schema, examples }, response),
    'x-events': events,
    ...(Object.keys(definition.metrics).length > 0 && { 'x-metrics': { ...definition.metrics } }),
  }
  return { [path]: { post: general }, ...Object.fromEntries(own) }
}

function describeFunction(
  name: string,
  { aliases = [], description, effect, arguments: input, result }: FunctionDefinition,
  prefix: string,
  components: Components,
) {
  const title = toPascalCase(name)
  const names = (kind: string) => [`${title}${kind}`, `${prefix}${title}${kind}`]
  const optional = input.safeParse({}).success
  const call = z
    .object({ name: z.enum([name, ...aliases]), arguments: optional ? input.optional() : input })
    .describe(description)
  const response = z.object({ result })
  const references = {
    arguments: components.input(input, ...names('Arguments')),
    result: components.output(result, ...names('Result')),
  }
  components.input(call, ...names('Call'))
  components.output(response, ...names('Response'))
  const event = eventSchemas.FUNCTION_CALL.extend({ functionCall: call }).describe(description)
  const request = components.input(event, ...names('Event'))
  const described = { name, aliases: [...aliases], description, effect, ...references }
  return { described, call, request, response, example: exampleOf(input) }
}

/** Narrows the schema of an event to the inputs, functions and files of an integration that handles it. */
function narrowEvent(
  name: EventName,
  definition: IntegrationDefinition,
  functions: readonly FunctionSchemas[],
  components: Components,
): Named {
  const prefix = toPascalCase(definition.name)
  const { DEPLOYMENT_CREATED, DOWNLOAD_STARTED, FUNCTION_CALL } = eventSchemas
  const describe = (schema: Named) => schema.describe(eventSchemas[name].description ?? '')
  if (name === 'DEPLOYMENT_CREATED') {
    const inputs = toForm(definition.inputs)
    components.input(blank, 'Blank')
    components.input(inputs, `${prefix}Inputs`)
    const deployment = DEPLOYMENT_CREATED.shape.deployment
      .extend({ inputs: inputs.optional().describe('If absent, the host reads them from the platform.') })
      .describe('The deployment to set up.')
    components.input(deployment, `${prefix}Deployment`)
    return describe(DEPLOYMENT_CREATED.extend({ deployment }))
  }
  if (name === 'FUNCTION_CALL' && functions.length > 0) {
    const calls = functions.map(({ call }) => call)
    const functionCall = oneOfNamed(calls, components)
    components.input(functionCall, `${prefix}FunctionCall`)
    return describe(FUNCTION_CALL.extend({ functionCall }))
  }
  if (name === 'DOWNLOAD_STARTED') {
    const download = DOWNLOAD_STARTED.shape.download.unwrap()
    const { description = '' } = download.shape.file
    const file = z.enum(definition.downloads).optional().describe(description)
    return describe(DOWNLOAD_STARTED.extend({ download: download.extend({ file }).optional() }))
  }
  return eventSchemas[name]
}

/** A union of objects that the components have already, with the `name` as its discriminator. */
function oneOfNamed(schemas: readonly Named[], components: Components): z.ZodType {
  const [first, ...others] = schemas
  if (!first) return z.never()
  const mapping = schemas.flatMap((schema) => {
    const { $ref } = components.input(schema)
    return [...schema.shape.name._zod.values].map((name) => [name, $ref])
  })
  const discriminator = { propertyName: 'name', mapping: Object.fromEntries(mapping) }
  return z.discriminatedUnion('name', [first, ...others]).meta({ discriminator })
}

const blank = z.literal(['', null]).describe('A form field that was left empty. It counts as absent.')

/** The inputs as a form sends them: an optional field may be blank. */
function toForm(inputs: z.ZodObject): z.ZodObject {
  const fields = Object.entries(withOrder(inputs).shape).map(([name, field]) => {
    if (!z.safeParse(field, undefined).success) return [name, field] as const
    const { title, description, order, immutable } = z.globalRegistry.get(field) ?? {}
    return [name, z.union([field, blank]).meta({ title, description, order, immutable })] as const
  })
  return z.object(Object.fromEntries(fields)).meta({ ...inputs.meta() })
}

/** The responses to an event, by name. {@link describeFunction} makes those to a function. */
function responsesTo(
  name: EventName,
  handled: boolean,
  definition: IntegrationDefinition,
): [string, z.ZodType][] {
  const ignored: [string, z.ZodType] = ['IgnoredResponse', ignoredResponse]
  if (!handled || name === 'FUNCTION_CALL') return [ignored]
  const title = `${toPascalCase(name)}Response`
  const ownTitle = toPascalCase(definition.name) + title
  const own = (): [string, z.ZodType] => {
    if (name === 'DEPLOYMENT_CREATED') return [ownTitle, createdResponse(definition)]
    if (name === 'METRIC_UPDATE') return [ownTitle, metricsResponse(definition)]
    return [title, responseSchemas[name]]
  }
  // An older event of a deployment is ignored.
  return eventTraits[name].claims === 'deployment' ? [own(), ignored] : [own()]
}

function exampleEvent(name: EventName, { events, inputs, downloads }: IntegrationDefinition): object {
  const deployment = { id: 'dep_123' }
  if (name === 'WEBHOOK_CHALLENGE') return { challenge: 'c_9f2b41' }
  if (name === 'DEPLOYMENT_CREATED') return { deployment: { ...deployment, inputs: exampleOf(inputs) } }
  if (name === 'DOWNLOAD_STARTED') return { deployment, download: { id: 'dl_1', file: downloads[0] } }
  return events.includes('DEPLOYMENT_CREATED') ? { deployment } : {}
}

const withExamples = z.object({ examples: z.array(z.record(z.string(), z.unknown())).default([]) })

/** The first of {@link examplesOf} a schema. */
export const exampleOf = (schema: z.ZodObject): Record<string, unknown> => examplesOf(schema)[0] ?? {}

/** The schema’s own examples, else its required fields with the examples of each. */
export function examplesOf(schema: z.ZodObject): Record<string, unknown>[] {
  const { examples } = withExamples.parse(schema.meta() ?? {})
  if (examples.length > 0) return examples
  const { required = [], properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  const fields = required.map((name) => {
    const field: z.core.JSONSchema.BaseSchema = Object(properties[name])
    return [name, field.examples?.[0] ?? field.enum?.[0] ?? 'text']
  })
  return [Object.fromEntries(fields)]
}
