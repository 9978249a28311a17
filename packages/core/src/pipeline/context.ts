/**
 * What a handler is given beside its input: the deployment, a deadline, and a log that reaches the platform.
 *
 * @module
 */
import type * as z from 'zod'
import type { Deadline } from './deadline.ts'
import type { Json } from '../delivery/store.ts'
import type { Egress } from '../http/egress.ts'
import { IntegrationError } from '../errors.ts'
import type { PlatformEvent } from '../contract/event.ts'
import { referenceNames, secretNames } from '../contract/integration.ts'
import type { DeploymentRecord, Platform } from '../contract/platform.ts'
import type { Redactor } from '../redact.ts'
import { type EnvironmentLookup, resolveReferences } from '../contract/references.ts'
import { fieldErrors } from '../contract/validation.ts'

/** The deployment that an event names. What the event does not carry is read from the platform, once. */
export interface Deployment {
  readonly id: string
  /**
   * The configured inputs. Blank ones count as absent, `{{env.NAME}}` is resolved where the schema allows it.
   *
   * @throws {IntegrationError} `invalid_inputs`, with the path of each fault
   */
  inputs<Schema extends z.ZodObject>(schema: Schema): Promise<z.output<Schema>>
  /**
   * What was published before.
   *
   * @returns `undefined` where neither the event nor the platform has what the schema asks for
   */
  outputs<Schema extends z.ZodObject>(schema: Schema): Promise<z.output<Schema> | undefined>
}

/** Writes to the deployment's log on the platform, and to the host's. */
export interface DeploymentLog {
  info(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}

/** What was written down of a deployment, so that the next delivery goes on where an earlier one ended. */
export interface Progress {
  read(name: string): Json | undefined
  /**
   * Writes a step down before the next one begins. Never a secret.
   *
   * @throws {IntegrationError} where another delivery has taken the work over, or the store can't be reached
   */
  write(name: string, value: Json): Promise<void>
  /**
   * Takes something at the provider for this deployment alone, so that no two deployments ever take one thing
   * for theirs.
   *
   * @param resource for example `application/app_123`
   * @returns whether it is this deployment's, now or from before
   */
  reserve(resource: string): Promise<boolean>
}

/** What every handler of an integration is given. */
export interface HandlerContext<Settings = undefined> {
  readonly event: PlatformEvent
  /** Absent where the event names none: then the shared credentials apply. */
  readonly deployment: Deployment | undefined
  /** What the integration's `createHandler` was given. */
  readonly settings: Settings
  readonly log: DeploymentLog
  /**
   * Absent where the event is not claimed, and so nothing would be kept: for events without effects, and calls
   * of functions without a delivery id.
   */
  readonly progress: Progress | undefined
  readonly fetch: typeof fetch
  /** For a URL that the deployment brought: whether it may be called, and by what. */
  readonly egress: Egress
  /** Ends every call below this event. */
  readonly signal: AbortSignal
  /** When the signal fires, in milliseconds since 1970. */
  readonly deadline: number
}

/** What {@link openDeployment} reads from. */
export interface DeploymentSources {
  event: PlatformEvent
  platform: Platform
  environment: EnvironmentLookup | undefined
  redactor: Redactor
  deadline: Deadline
}

/** The deployment that an event names, if it names one. */
export function openDeployment(sources: DeploymentSources): Deployment | undefined {
  const given = sources.event.deployment
  if (!given) return undefined
  let record: Promise<DeploymentRecord | undefined> | undefined
  const readRecord = () => {
    record ??= sources.platform.getDeployment(given.id, { signal: sources.deadline.signal })
    return record
  }

  /** The recorded inputs. A deployment that nobody knows must not pass for one with default inputs. */
  const readInputs = async () => {
    const known = await readRecord()
    if (known || setsUpOrTearsDown(sources.event)) return known?.inputs ?? {}
    throw new IntegrationError('missing_credentials', 'The platform does not know this deployment.', {
      hint: 'Create it first, or send its inputs or outputs with the event.',
      errors: [{ path: 'deployment.id', message: 'is not known to the platform' }],
    })
  }

  return {
    id: given.id,

    async inputs(schema) {
      // A setup with empty inputs means them; any other event with empty inputs just carries none.
      const carried =
        sources.event.name === 'DEPLOYMENT_CREATED' || !isEmpty(given.inputs) ? given.inputs : undefined
      const raw = carried ?? (await readInputs())
      const resolved = resolveInputs(withoutBlanks(raw), schema, sources)
      const parsed = schema.safeParse(resolved)
      if (!parsed.success) {
        const known = Object.keys(schema.shape)
        throw invalidInputs(fieldErrors(parsed.error, 'deployment.inputs', known), parsed.error)
      }
      return parsed.data
    },

    async outputs(schema) {
      const carried = given.outputs && withoutBlanks(given.outputs)
      for (const name of secretNames(schema)) sources.redactor.add(carried?.[name])
      const own = carried && schema.safeParse(carried)
      if (own?.success) return own.data
      const published = (await readRecord())?.outputs
      if (!published) return undefined
      for (const name of secretNames(schema)) sources.redactor.add(published[name])
      const merged = schema.safeParse({ ...published, ...carried })
      return merged.success ? merged.data : undefined
    },
  }
}

function setsUpOrTearsDown({ name }: PlatformEvent): boolean {
  return name === 'DEPLOYMENT_CREATED' || name === 'DEPLOYMENT_DELETED'
}

function isEmpty(values: Record<string, unknown> | undefined): boolean {
  return values === undefined || Object.keys(values).length === 0
}

// A form sends what its user left empty as an empty string, or as null.
function withoutBlanks(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== null && !(typeof value === 'string' && value.trim() === ''),
    ),
  )
}

function resolveInputs(
  values: Record<string, unknown>,
  schema: z.ZodObject,
  { environment, redactor }: DeploymentSources,
): Record<string, unknown> {
  const lookup: EnvironmentLookup =
    environment ?? ((name) => ({ problem: `names ${name}, and this host resolves no references` }))
  const resolved = { ...values }
  const errors = referenceNames(schema).flatMap((name) => {
    const value = values[name]
    if (typeof value !== 'string' || !value.includes('{{')) return []
    const result = resolveReferences(value, lookup)
    if ('problem' in result) return [{ path: `deployment.inputs.${name}`, message: result.problem }]
    resolved[name] = result.value
    return []
  })
  if (errors.length > 0) throw invalidInputs(errors)
  for (const name of secretNames(schema)) redactor.add(resolved[name])
  return resolved
}

function invalidInputs(errors: ReturnType<typeof fieldErrors>, cause?: unknown): IntegrationError {
  const first = errors[0] ? `${errors[0].path} ${errors[0].message}` : 'they do not fit'
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : ''
  return new IntegrationError('invalid_inputs', `The inputs of the deployment do not fit: ${first}${more}.`, {
    errors,
    cause,
  })
}
