/**
 * What a webhook takes and answers, event by event, as the OpenAPI document says it.
 *
 * @module
 */
import type * as z from 'zod'
import { type EventName, eventNames, eventSchemas } from '../contract/event.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { answerSchemas, createdAnswer, ignoredAnswer, metricsAnswer } from '../contract/responses.ts'
import type { Components, Reference } from './components.ts'
import { exampleOf } from './example.ts'
import { type DescribedFunction, type FunctionSchemas, toPascalCase } from './functions.ts'
import { narrowEvent, oneOfNamed } from './requests.ts'

/** One event of a route, with what it may be answered. */
export interface DescribedEvent {
  event: EventName
  description: string
  /** Whether the route acts on it; otherwise it is answered, and nothing else. */
  handled: boolean
  /** Of FUNCTION_CALL: the function that is called. */
  function?: DescribedFunction
  request: Reference
  answers: Reference[]
}

/** One webhook. */
export interface DescribedWebhook {
  /** Any of its events. */
  request: Reference
  /** Any of its answers. */
  answer: Reference
  events: DescribedEvent[]
  /** A body for each event that it acts on, by the event’s name, and for each function, by the function’s. */
  examples: Record<string, { value: unknown }>
}

/**
 * Describes the webhook of an integration.
 *
 * @param functions the integration’s, which the components have already
 */
export function describeWebhook(
  definition: IntegrationDefinition,
  functions: readonly FunctionSchemas[],
  components: Components,
): DescribedWebhook {
  const prefix = toPascalCase(definition.name)
  const schemas: ReturnType<typeof narrowEvent>[] = []
  const examples: DescribedWebhook['examples'] = {}

  const events = eventNames.flatMap((name): DescribedEvent[] => {
    const general = eventSchemas[name]
    const handled = name === 'WEBHOOK_CHALLENGE' || definition.events.includes(name)
    const schema = handled ? narrowEvent(name, definition, functions, components) : general
    schemas.push(schema)
    const title = `${schema === general ? '' : prefix}${toPascalCase(name)}Event`
    const { description = '' } = general
    const common = { event: name, description, handled, request: components.input(schema, title) }
    if (handled && name === 'FUNCTION_CALL') {
      return functions.map(({ described, answer, arguments: given }) => {
        const functionCall = { name: described.name, arguments: exampleOf(given) }
        examples[described.name] = { value: { name, functionCall } }
        return { ...common, description: described.description, function: described, answers: [answer] }
      })
    }
    if (handled) examples[name] = { value: toExample(name, definition) }
    const answers = answersTo(name, handled, definition)
    return [{ ...common, answers: answers.map(([title, answer]) => components.output(answer, title)) }]
  })
  const answers = events.flatMap((event) => event.answers)
  return {
    request: components.input(oneOfNamed(schemas, components), `${prefix}Event`),
    answer: components.anyOf(answers, `${prefix}Answer`),
    events,
    examples,
  }
}

/** What an event may be answered, a call of a function aside. */
function answersTo(
  name: EventName,
  handled: boolean,
  definition: IntegrationDefinition,
): [title: string, schema: z.ZodType][] {
  const ignored: [string, z.ZodType] = ['IgnoredAnswer', ignoredAnswer]
  if (!handled || name === 'FUNCTION_CALL') return [ignored]
  const title = `${toPascalCase(name)}Answer`
  const prefix = toPascalCase(definition.name)
  switch (name) {
    case 'DEPLOYMENT_CREATED':
      return [[prefix + title, createdAnswer(definition)], ignored]
    case 'METRIC_UPDATE':
      return [[prefix + title, metricsAnswer(definition)]]
    default:
      return [[title, answerSchemas[name]]]
  }
}

function toExample(name: EventName, definition: IntegrationDefinition): Record<string, unknown> {
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
