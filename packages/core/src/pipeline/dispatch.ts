/** From an operation to its response: the integration's handler runs, and the platform learns the result. */
import type { PlatformEvent } from '../contract/event.ts'
import type { IntegrationDefinition } from '../contract/integration.ts'
import { secretPaths, secretsIn, valuesAt } from '../contract/marks.ts'
import type { DeploymentStatus } from '../contract/platform.ts'
import type { ResponseTo } from '../contract/responses.ts'
import { suggestion } from '../contract/suggestion.ts'
import { summarise } from '../contract/validation.ts'
import { reservedSteps } from '../delivery/claim.ts'
import { lastStatus } from '../delivery/idempotency.ts'
import { type EventResponse, ignored, type ResponseBody, toFailure } from '../delivery/response.ts'
import { IntegrationError, isIntegrationError, toIntegrationError } from '../errors.ts'
import { cutText } from '../log.ts'
import { parseArguments } from '../request/fields.ts'
import { ensureAlive, reportHealth } from './life.ts'
import type { Run } from './run.ts'

/** Inputs of one event that a warning may name. */
const MAX_WARNINGS = 20

/** Handles one event. A failure becomes a response, and is reported to the platform. */
export async function dispatch(run: Run): Promise<EventResponse> {
  const { parts, reporter } = run
  const { operation, trace } = parts
  let hasBegun = false
  try {
    const { handled, traits } = operation
    if (handled && traits.life === 'needed') await ensureAlive(run)
    hasBegun = true
    if (handled && traits.status?.working) reporter.status(traits.status.working)
    const body = await handle(run)
    if (!traits.status || body.status === 'ignored') return { status: 200, body }
    reporter.success(traits.status.done)
    return { status: 200, body, deploymentStatus: traits.status.done }
  } catch (error) {
    const known = operation.effectful && hasBegun ? neverRepeatBlindly(error) : toIntegrationError(error)
    reporter.failure(operation.event.name, known)
    const deploymentStatus = await reportFailedDeployment(run, known)
    return { ...toFailure(known, trace.redactor, operation.event), deploymentStatus }
  }
}

/**
 * A failed redeploy leaves a running deployment as it was, and a refused deletion a stopped one. After any other final
 * failure, it has the status that the event's traits name.
 */
async function reportFailedDeployment(
  run: Run,
  { code, retryable, message, hint }: IntegrationError,
): Promise<DeploymentStatus | undefined> {
  const { claim, operation } = run.parts
  const { traits } = operation
  const before = claim && lastStatus(claim.progress)
  if (!traits.status || before === 'stopped') return undefined
  // A deletion that was not meant for this deployment, or not so, says nothing of it.
  if (traits.life === 'ends' && (code === 'deletion_refused' || code === 'invalid_event')) return undefined
  const ranBefore = traits.publishes && (before === 'running' || before === 'unhealthy')
  if (!ranBefore && retryable) return undefined
  const status = ranBefore && (retryable || (await stillRuns(run))) ? before : traits.status.failed
  run.reporter.status(status, hint ? `${message} ${hint}` : message)
  return status
}

/** Whether the deployment works with what was published before. */
async function stillRuns(run: Run): Promise<boolean> {
  const { deployment, context } = run.published()
  const record = await deployment?.record().catch(() => undefined)
  const checks = record && (await run.parts.shared.handlers.health?.(context).catch(() => undefined))
  // A probe that could not run says nothing.
  return checks?.every(({ healthy }) => healthy) ?? true
}

async function handle(run: Run): Promise<ResponseBody> {
  const { shared, operation } = run.parts
  const { event, handled, route } = operation
  if (event.name === 'WEBHOOK_CHALLENGE') {
    return event.challenge === undefined ? { status: 'ok' } : { challenge: event.challenge }
  }
  if (!handled) return ignored(`/${route} does not act on ${event.name}.`)
  switch (event.name) {
    case 'DEPLOYMENT_CREATED':
      return create(event, run)
    case 'DEPLOYMENT_DELETED':
      await shared.handlers.deleted?.(run.context)
      return { status: 'stopped' }
    case 'HEALTH_CHECK':
      return probe(run)
    case 'METRIC_UPDATE':
      return measure(run)
    case 'DOWNLOAD_STARTED':
      return download(event.download, run)
    case 'FUNCTION_CALL':
      return callFunction(event.functionCall, run)
  }
}

async function create(
  event: Extract<PlatformEvent, { name: 'DEPLOYMENT_CREATED' }>,
  { parts: { shared, claim, trace }, context, deployment, reporter }: Run,
): Promise<ResponseBody> {
  const { definition, handlers } = shared
  const known = Object.keys(definition.inputs.shape)
  // Often a typing error.
  const unknown = Object.keys(event.deployment.inputs ?? {}).filter((name) => !known.includes(name))
  for (const name of unknown.slice(0, MAX_WARNINGS)) {
    const sentence = `The input “${name.slice(0, 80)}” is unknown and has no effect`
    reporter.log.warn(sentence + (suggestion(name, known) || '.'))
  }
  const inputs = (await deployment?.inputs(definition.inputs)) ?? {}
  for (const [name, choice] of deployment?.hidden ?? [])
    reporter.log.warn(`The input “${name}” has no effect: it goes with ${choice}.`)
  const outputs = definition.outputs.parse(await handlers.created?.(inputs, context))
  const sensitive = secretPaths(definition.outputs).filter((path) =>
    valuesAt(outputs, path).some((value) => value !== undefined),
  )
  trace.redactor.add(secretsIn(definition.outputs, outputs))
  if ((await reporter.outputs({ outputs, sensitive })) === 'gone') {
    if (claim?.progress[reservedSteps.published] !== true) await handlers.discard?.(outputs, context)
    return ignored('The platform no longer knows this deployment.')
  }
  return { status: 'running', outputs }
}

async function probe(run: Run): Promise<ResponseTo<'HEALTH_CHECK'>> {
  const { shared, trace } = run.parts
  const given = (await shared.handlers.health?.(run.context)) ?? []
  const checks = given.map((check) => {
    const clean = trace.redactor.data(check)
    return clean.message ? { ...clean, message: cutText(clean.message) } : clean
  })
  const failing = checks.filter((check) => !check.healthy)
  if (failing.length === 0) {
    await reportHealth(run, 'running')
    return { status: 'healthy', checks }
  }
  const names = failing.map(({ name }) => name).join(', ')
  trace.notes.push({ level: 'info', message: `Unhealthy: ${names}.` })
  await reportHealth(run, 'unhealthy', failing.map(({ message, name }) => message ?? name).join(' '))
  return { status: 'unhealthy', checks }
}

async function measure({ parts, context, reporter }: Run): Promise<ResponseTo<'METRIC_UPDATE'>> {
  const { definition, handlers, now } = parts.shared
  const values: Record<string, number> = (await handlers.metrics?.(context)) ?? {}
  const metrics = Object.entries(values).map(([name, value]) => {
    const known = Object.hasOwn(definition.metrics, name) ? definition.metrics[name] : undefined
    if (!known || !Number.isFinite(value)) {
      const reason = known ? 'is no finite number' : 'its contract does not have'
      throw new TypeError(`The handler of METRIC_UPDATE returned ${value} as “${name}”, which ${reason}.`)
    }
    return { name, value, ...(known.unit !== undefined && { unit: known.unit }) }
  })
  const timestamp = new Date(now()).toISOString()
  if (metrics.length > 0) reporter.metrics(metrics.map((metric) => ({ ...metric, timestamp })))
  return { metrics }
}

async function download(
  wanted: { id?: string | undefined; file?: string | undefined } | undefined,
  { parts, context, reporter }: Run,
): Promise<ResponseTo<'DOWNLOAD_STARTED'>> {
  const { definition, handlers } = parts.shared
  const file = wanted?.file ?? definition.downloads[0] ?? ''
  if (!definition.downloads.includes(file)) {
    const message = `expected one of ${definition.downloads.join(', ')}${suggestion(file, definition.downloads)}`
    throw new IntegrationError('invalid_event', `There is no such file to download: ${message}`, {
      errors: [{ path: 'download.file', message }],
    })
  }
  const files = (await handlers.download?.(file, context)) ?? []
  if (wanted?.id !== undefined) await reporter.download(wanted.id, files)
  return { files }
}

async function callFunction(
  call: { name: string; arguments: Record<string, unknown> },
  { parts: { shared, operation, trace }, context }: Run,
): Promise<ResponseBody> {
  const { definition, handlers } = shared
  const { redactor, credentials } = trace
  const wanted = operation.function
  if (!wanted) throw unknownFunction(definition, call.name)
  const { arguments: schema, result: resultSchema } = wanted.definition
  const parsed = parseArguments(schema, call.arguments)
  for (const given of [call.arguments, parsed.data]) redactor.add(secretsIn(schema, given))
  if (parsed.errors) {
    const { errors, cause } = parsed
    const message = `The arguments of ${wanted.name} are invalid: ${summarise(errors)}.`
    throw new IntegrationError('invalid_arguments', message, { errors, cause })
  }
  const given = await handlers.functions?.[wanted.name]?.(parsed.data, context)
  // A result that JSON cannot hold must fail here, where the outcome becomes unknown: later, it would invite a retry.
  const { result }: ResponseBody = JSON.parse(JSON.stringify({ result: resultSchema.parse(given) }))
  redactor.add(secretsIn(resultSchema, result))
  // A provider may quote a credential in what it says of one message of many.
  return { result: credentials.sparing(call.arguments).data(result) }
}

function unknownFunction({ name, functions }: IntegrationDefinition, wanted: string): IntegrationError {
  const names = Object.entries(functions).flatMap(([own, { aliases = [] }]) => [own, ...aliases])
  return new IntegrationError(
    'unknown_function',
    `/${name} has no function “${wanted.slice(0, 80)}”${suggestion(wanted, names)}.`,
    { hint: names.length === 0 ? 'It has no functions.' : `It has: ${names.join(', ')}.` },
  )
}

// A fault of the host in the middle of an effect says nothing about the effect. Neither such a fault nor a call
// that may have arrived must invite a retry.
function neverRepeatBlindly(error: unknown): IntegrationError {
  const known = toIntegrationError(error)
  // A shortage of the host, too: it may have come after the change.
  const fault = known.code === 'internal_error' || !isIntegrationError(error)
  if (!fault && !(known.retryable && known.effect === 'unknown')) return known
  const message = fault ? 'The host failed in the middle of this call.' : known.message
  return new IntegrationError('outcome_unknown', message, {
    hint: 'Check at the provider whether it took effect before you call again.',
    provider: known.provider,
    effect: 'unknown',
    cause: error,
  })
}
