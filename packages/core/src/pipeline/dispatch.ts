/**
 * What each event does: from the parsed event to the body of its answer, reporting to the platform on the way.
 *
 * @module
 */
import * as z from 'zod'
import { type AnswerBody, ignored } from '../response.ts'
import type { AnswerTo } from '../contract/responses.ts'
import type { HandlerContext } from './context.ts'
import { IntegrationError } from '../errors.ts'
import type { EventNamed, PlatformEvent } from '../contract/event.ts'
import {
  type FunctionDefinition,
  type HealthCheck,
  type IntegrationDefinition,
  secretNames,
} from '../contract/integration.ts'
import type { DownloadFile } from '../contract/platform.ts'
import type { Redactor } from '../redact.ts'
import type { Reporter } from './reporter.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'

type Run<Input, Settings, Output> = {
  // A method, not a property: an integration's own handlers take narrower inputs.
  run(input: Input, context: HandlerContext<Settings>): Promise<Output>
}['run']

/** The handlers of any integration, as core calls them. */
export interface AnyHandlers<Settings> {
  created?: Run<Record<string, unknown>, Settings, Record<string, unknown>>
  discard?: Run<Record<string, unknown>, Settings, void>
  deleted?(context: HandlerContext<Settings>): Promise<void>
  health?(context: HandlerContext<Settings>): Promise<HealthCheck[]>
  metrics?(context: HandlerContext<Settings>): Promise<Record<string, number>>
  download?: Run<string, Settings, DownloadFile[]>
  functions?: Record<string, Run<Record<string, unknown>, Settings, unknown>>
}

/** Everything that one event is handled with. */
export interface Job<Settings> {
  definition: IntegrationDefinition
  handlers: AnyHandlers<Settings>
  context: HandlerContext<Settings>
  report: Reporter
  redactor: Redactor
  /** Knows credentials alone. */
  credentials: Redactor
  now: () => number
}

/** Handles one event. */
export async function act<Settings>(event: PlatformEvent, job: Job<Settings>): Promise<AnswerBody> {
  if (event.name === 'WEBHOOK_CHALLENGE') {
    return event.challenge === undefined ? { status: 'ok' } : { challenge: event.challenge }
  }
  if (!job.definition.events.includes(event.name)) {
    return ignored(`/${job.definition.name} does not act on ${event.name}.`)
  }
  switch (event.name) {
    case 'DEPLOYMENT_CREATED':
      return create(job)
    case 'DEPLOYMENT_DELETED':
      return remove(job)
    case 'HEALTH_CHECK':
      return probe(job)
    case 'METRIC_UPDATE':
      return measure(job)
    case 'DOWNLOAD_STARTED':
      return download(event, job)
    case 'FUNCTION_CALL':
      return callFunction(event, job)
  }
}

async function create<Settings>({
  definition,
  handlers,
  context,
  report,
  redactor,
}: Job<Settings>): Promise<AnswerBody> {
  report.status('deploying')
  const inputs = (await context.deployment?.inputs(definition.inputs)) ?? {}
  const outputs = definition.outputs.parse(await handlers.created?.(inputs, context))
  const sensitive = secretNames(definition.outputs).filter((name) => outputs[name] !== undefined)
  for (const name of sensitive) redactor.add(outputs[name])
  if ((await report.outputs(outputs, sensitive)) === 'gone') {
    await handlers.discard?.(outputs, context)
    return ignored('The platform no longer knows this deployment.')
  }
  report.status('running')
  return { status: 'running', outputs }
}

async function remove<Settings>({
  handlers,
  context,
  report,
}: Job<Settings>): Promise<AnswerTo<'DEPLOYMENT_DELETED'>> {
  await handlers.deleted?.(context)
  report.status('stopped')
  return { status: 'stopped' }
}

async function probe<Settings>({
  handlers,
  context,
  report,
  redactor,
}: Job<Settings>): Promise<AnswerTo<'HEALTH_CHECK'>> {
  const checks = redactor.data((await handlers.health?.(context)) ?? [])
  const failing = checks.filter((check) => !check.healthy)
  if (failing.length === 0) report.status('running')
  else report.status('unhealthy', failing.map((check) => check.message ?? check.name).join(' '))
  return { status: failing.length === 0 ? 'healthy' : 'unhealthy', checks }
}

async function measure<Settings>({
  definition,
  handlers,
  context,
  report,
  now,
}: Job<Settings>): Promise<AnswerTo<'METRIC_UPDATE'>> {
  const values = (await handlers.metrics?.(context)) ?? {}
  const metrics = Object.entries(definition.metrics).flatMap(([name, { unit }]) => {
    const value = values[name]
    return value === undefined ? [] : [{ name, value, ...(unit === undefined ? {} : { unit }) }]
  })
  const timestamp = new Date(now()).toISOString()
  if (metrics.length > 0) report.metrics(metrics.map((metric) => ({ ...metric, timestamp })))
  return { metrics }
}

async function download<Settings>(
  event: EventNamed<'DOWNLOAD_STARTED'>,
  { definition, handlers, context, report }: Job<Settings>,
): Promise<AnswerTo<'DOWNLOAD_STARTED'>> {
  const file = event.download?.file ?? definition.downloads[0] ?? ''
  if (!definition.downloads.includes(file)) {
    const message = `expected one of ${definition.downloads.join(', ')}${suggestion(file, definition.downloads)}`
    throw new IntegrationError('invalid_event', `There is no such file to download: ${message}`, {
      errors: [{ path: 'download.file', message }],
    })
  }
  const files = (await handlers.download?.(file, context)) ?? []
  if (event.download?.id !== undefined) await report.download(event.download.id, files)
  return { files }
}

async function callFunction<Settings>(
  event: EventNamed<'FUNCTION_CALL'>,
  { definition, handlers, context, redactor, credentials }: Job<Settings>,
): Promise<AnswerBody> {
  const { name, definition: wanted } = findFunction(definition, event.functionCall.name)
  const given = event.functionCall.arguments
  for (const secretName of secretNames(wanted.arguments)) redactor.add(given[secretName])
  const input = parseArguments(wanted, given, name)
  const returned: unknown = await handlers.functions?.[name]?.(input, context)
  if (!(wanted.result instanceof z.ZodObject))
    return { result: credentials.data(wanted.result.parse(returned)) }
  // A provider may quote a credential where it tells what became of one message of many.
  const result = credentials.data(wanted.result.parse(returned))
  for (const secretName of secretNames(wanted.result)) redactor.add(result[secretName])
  return { result }
}

/** The function that answers to a name or an alias, where there is one. */
export function lookUpFunction(
  definition: IntegrationDefinition,
  wanted: string,
): { name: string; definition: FunctionDefinition } | undefined {
  for (const [name, found] of Object.entries(definition.functions)) {
    if (name === wanted || found.aliases?.includes(wanted)) return { name, definition: found }
  }
  return undefined
}

function findFunction(
  definition: IntegrationDefinition,
  wanted: string,
): { name: string; definition: FunctionDefinition } {
  const found = lookUpFunction(definition, wanted)
  if (found) return found
  const names = Object.entries(definition.functions).flatMap(([name, { aliases = [] }]) => [name, ...aliases])
  throw new IntegrationError(
    'unknown_function',
    `/${definition.name} has no function “${wanted.slice(0, 80)}”${suggestion(wanted, names)}`,
    { hint: names.length === 0 ? 'It has none.' : `It has: ${names.join(', ')}.` },
  )
}

function parseArguments(
  wanted: FunctionDefinition,
  given: Record<string, unknown>,
  name: string,
): z.output<FunctionDefinition['arguments']> {
  const parsed = wanted.arguments.safeParse(given)
  if (parsed.success) return parsed.data
  const errors = fieldErrors(parsed.error, '', Object.keys(wanted.arguments.shape))
  const first = errors[0] ? `${errors[0].path || 'they'} ${errors[0].message}` : 'they do not fit'
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  throw new IntegrationError('invalid_arguments', `The arguments of ${name} do not fit: ${first}${more}.`, {
    errors,
    cause: parsed.error,
  })
}
