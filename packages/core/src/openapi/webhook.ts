import { type EventName, eventNames, eventSchemas, eventTraits } from '../contract/event.ts'
import { toInputsSchema } from '../contract/form.ts'
import type { FunctionDefinition, IntegrationDefinition } from '../contract/integration.ts'
import { type JsonSchema, toJsonSchema } from '../contract/marks.ts'
import { createdResponse, ignoredResponse, responseSchemas } from '../contract/responses.ts'
import { type Components, type OpenApiOperation, type Reference, refer, toPascalCase } from './document.ts'
import { exampleOf, failures, signature } from './shared.ts'

/** One schema of a union, with the values of `name` that tell it from the others. */
type Member = [names: string[], schema: Reference]

/**
 * Describes the webhook of an integration as one operation. The `name` of an event tells the events apart, the `name`
 * of a call the functions. Each schema has a name: the arguments of `sendEmail` on `mailer` are
 * `MailerSendEmailArguments`.
 */
export function describeWebhook(definition: IntegrationDefinition, { add }: Components): OpenApiOperation {
  const { inputs, functions, downloads, metrics } = definition
  const prefix = toPascalCase(definition.name)
  const ignored = add('IgnoredResponse', toJsonSchema(ignoredResponse, 'output'))
  const responses: Record<string, Reference[]> = {}
  const examples: Record<string, { value: object }> = {}
  const describeFunction = ([name, called]: [string, FunctionDefinition]): Member => {
    const { aliases = [], description, effectful, arguments: input } = called
    const title = `${prefix}${toPascalCase(name)}`
    const names = [name, ...aliases]
    const given = add(`${title}Arguments`, toJsonSchema(input, 'input'))
    const result = add(`${title}Result`, toJsonSchema(called.result, 'output'))
    const response = { type: 'object', properties: { result }, required: ['result'] }
    const answer = [add(`${title}Response`, response)]
    for (const each of names) responses[each] = answer
    const functionCall = { name, arguments: exampleOf(input) }
    examples[name] = { value: { ...exampleOfEvent('FUNCTION_CALL', definition), functionCall } }
    const properties = { name: { type: 'string', enum: names }, arguments: given }
    const required = input.safeParse({}).success ? ['name'] : ['name', 'arguments']
    const call = { type: 'object', description, properties, required, 'x-effect': effectful }
    return [names, add(`${title}Call`, call)]
  }

  /** The fields of an event that have a schema of this integration. */
  const ownFields = (name: EventName): JsonSchema => {
    if (name === 'FUNCTION_CALL' && Object.keys(functions).length > 0) {
      const calls = Object.entries(functions).map(describeFunction)
      return { functionCall: add(`${prefix}FunctionCall`, oneOf(calls)) }
    }
    const { deployment, download } = Object(toJsonSchema(eventSchemas[name], 'input').properties)
    if (name === 'DEPLOYMENT_CREATED') {
      const form = add(`${prefix}Inputs`, toInputsSchema(inputs))
      const own = { ...form, description: 'If absent, the host reads them from the platform.' }
      return { deployment: add(`${prefix}Deployment`, extend(deployment, { inputs: own })) }
    }
    if (name !== 'DOWNLOAD_STARTED') return {}
    const file = { type: 'string', enum: downloads, description: 'If absent, the first of these.' }
    return { download: add(`${prefix}Download`, extend(download, { file })) }
  }

  const respond = (name: Exclude<EventName, 'FUNCTION_CALL'>): Reference => {
    const title = `${toPascalCase(name)}Response`
    if (name !== 'DEPLOYMENT_CREATED') return add(title, toJsonSchema(responseSchemas[name], 'output'))
    const created = createdResponse(definition)
    const outputs = add(`${prefix}Outputs`, toJsonSchema(created.shape.outputs, 'output'))
    return add(`${prefix}${title}`, extend(toJsonSchema(created, 'output'), { outputs }))
  }

  const events = eventNames.map((name): Member => {
    const handled = name === 'WEBHOOK_CHALLENGE' || definition.events.includes(name)
    if (!handled) responses[name] = [ignored]
    else if (name !== 'FUNCTION_CALL') {
      // An older event of a deployment is ignored.
      responses[name] = [respond(name), ...(eventTraits[name].claims === 'deployment' ? [ignored] : [])]
      examples[name] = { value: exampleOfEvent(name, definition) }
    }
    const own = handled ? ownFields(name) : {}
    const title = `${Object.keys(own).length > 0 ? prefix : ''}${toPascalCase(name)}Event`
    return [[name], add(title, extend(toJsonSchema(eventSchemas[name], 'input'), own))]
  })

  const all = new Set(Object.values(responses).flatMap((each) => each.map(({ $ref }) => $ref)))
  const response = add(`${prefix}Response`, { anyOf: [...all].map(($ref) => ({ $ref })) })
  const request = { schema: add(`${prefix}Event`, oneOf(events)), examples }
  return {
    operationId: `post${prefix}Event`,
    tags: [definition.name],
    summary: definition.title,
    description: definition.description,
    ...signature,
    requestBody: { required: true, content: { 'application/json': request } },
    responses: {
      200: {
        description: 'The outcome of the event.',
        headers: { 'idempotency-replayed': refer('headers', 'idempotency-replayed') },
        content: { 'application/json': { schema: response } },
      },
      ...failures,
    },
    'x-responses': responses,
    ...(Object.keys(metrics).length > 0 && { 'x-metrics': { ...metrics } }),
  }
}

/** An event that works as it is, after those before it, on a host with credentials of its own. */
function exampleOfEvent(name: EventName, { name: route, inputs, downloads }: IntegrationDefinition): object {
  const deployment = { id: `dep_${route}` }
  if (name === 'WEBHOOK_CHALLENGE') return { name, challenge: 'c_9f2b41' }
  if (name === 'DEPLOYMENT_CREATED') return { name, deployment: { ...deployment, inputs: exampleOf(inputs) } }
  // An integration that requires no input has credentials without a deployment.
  const own = name === 'DEPLOYMENT_DELETED' || !inputs.safeParse({}).success ? { deployment } : {}
  return { name, ...own, ...(name === 'DOWNLOAD_STARTED' && { download: { file: downloads[0] } }) }
}

/** A schema with further properties, or with others of the same names. It is no longer the component of its title. */
function extend({ title: _, ...schema }: JsonSchema, properties: JsonSchema): JsonSchema {
  return { ...schema, properties: { ...Object(schema.properties), ...properties } }
}

function oneOf(members: readonly Member[]): JsonSchema {
  const mapping = members.flatMap(([names, { $ref }]) => names.map((name) => [name, $ref]))
  const discriminator = { propertyName: 'name', mapping: Object.fromEntries(mapping) }
  return { oneOf: members.map(([, schema]) => schema), discriminator }
}
