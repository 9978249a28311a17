import type * as z from 'zod'
import type { PlatformEvent } from '../contract/event.ts'
import { hiddenFields } from '../contract/form.ts'
import type { Deployment } from '../contract/handler-context.ts'
import { referencePaths, replaceAt, secretsIn } from '../contract/marks.ts'
import type { CallbackOptions } from '../contract/platform.ts'
import { joinPath, summarise } from '../contract/validation.ts'
import { type FieldError, IntegrationError } from '../errors.ts'
import { withCommas } from '../json.ts'
import { ownerOf } from '../request/capacity.ts'
import { MAX_INPUT_LENGTH, parseInputs } from '../request/fields.ts'
import type { EnvironmentLookup } from './options.ts'
import type { EventParts } from './parts.ts'

/** Whether an input names a variable of the host, at any depth. */
const hasReference = (value: unknown) => /\{\{\s*env\./.test(JSON.stringify(value) ?? '')

const [INPUTS, OUTPUTS] = ['deployment.inputs', 'deployment.outputs']

/** Where the outputs of a deployment are: in the event or else on the platform, on the platform, or nowhere yet. */
export type OutputsFrom = 'event' | 'platform' | 'nowhere'

/** The deployment that an event names, and the platform's record of it. */
export class EventDeployment implements Deployment {
  readonly id: string
  readonly owner: string
  /** The inputs without effect that were read, each with the choice that it goes with. */
  hidden: ReadonlyMap<string, string> = new Map()
  readonly #parts: EventParts
  readonly #given: NonNullable<PlatformEvent['deployment']>
  readonly #outputsFrom: OutputsFrom
  readonly #callback: () => CallbackOptions
  /** The names of inputs whose references were resolved. */
  readonly #resolved = new Set<string>()
  #record: ReturnType<Deployment['record']> | undefined

  /** @param callback makes the event's own options for each callback */
  constructor(
    parts: EventParts,
    given: NonNullable<PlatformEvent['deployment']>,
    outputsFrom: OutputsFrom,
    callback: () => CallbackOptions,
  ) {
    this.id = given.id
    this.owner = ownerOf(given)
    this.#parts = parts
    this.#given = given
    this.#outputsFrom = outputsFrom
    this.#callback = callback
  }

  record(): ReturnType<Deployment['record']> {
    this.#record ??= this.#parts.shared.platform.getDeployment(this.id, this.#callback())
    return this.#record
  }

  /** The names of the inputs that hold, or held before they were resolved, references to variables of the host. */
  references(): string[] {
    // The outputs of an event hold what its inputs refer to.
    const carried = Object.entries(this.#given.inputs ?? {}).filter(([, value]) => hasReference(value))
    return [...new Set([...this.#resolved, ...carried.map(([name]) => name)])]
  }

  async inputs<Schema extends z.ZodObject>(schema: Schema): Promise<z.output<Schema>> {
    const { operation, trace } = this.#parts
    const { credentials } = trace
    const isCarried = operation.traits.inputs === 'event' || this.#carriesInputs
    const raw = (isCarried && this.#given.inputs) || (await this.#readInputs())
    const values = withoutBlanks(raw)
    this.hidden = hiddenFields(schema, values)
    for (const name of this.hidden.keys()) {
      credentials.add(values[name])
      delete values[name]
    }
    const parsed = parseInputs(schema, values, INPUTS, (known) => {
      const whole = resolveInputs(known, schema, this.#parts, this.#resolved)
      credentials.add(secretsIn(schema, whole))
      return whole
    })
    credentials.add(secretsIn(schema, parsed.data))
    if (parsed.errors) throw invalidInputs(parsed.errors, parsed.cause)
    return parsed.data
  }

  async outputs<Schema extends z.ZodObject>(
    schema: Schema,
    { inputsSuffice } = { inputsSuffice: false },
  ): Promise<z.output<Schema> | undefined> {
    const { credentials } = this.#parts.trace
    const [given, from] = [this.#given.outputs, this.#outputsFrom]
    if (from === 'nowhere') return undefined
    const carried = from === 'event' && given ? withoutBlanks(given) : undefined
    credentials.add(secretsIn(schema, carried))
    const own = carried && parseInputs(schema, carried, OUTPUTS)
    if (own?.data) return own.data
    if (inputsSuffice && this.#carriesInputs && from === 'event') return undefined
    const published = (await this.#readLiving())?.outputs
    if (!published) return undefined
    credentials.add(secretsIn(schema, published))
    return parseInputs(schema, { ...published, ...carried }, OUTPUTS).data
  }

  get #carriesInputs(): boolean {
    return Object.keys(this.#given.inputs ?? {}).length > 0
  }

  async #readLiving() {
    const known = await this.record()
    const isNeeded = this.#parts.operation.traits.life === 'needed'
    if (isNeeded && known?.status === 'stopped') throw deploymentDeleted(this.id)
    return known
  }

  /** The inputs on the platform. A deployment that nobody knows must not pass for one with default inputs. */
  async #readInputs() {
    const known = await this.#readLiving()
    const { life } = this.#parts.operation.traits
    if (known || life === 'ends') return known?.inputs ?? {}
    if (life === 'begins') throw deploymentUnknown()
    throw new IntegrationError('missing_credentials', 'The platform does not know this deployment.', {
      hint: 'Create it first, or send its inputs or outputs with the event.',
      errors: [{ path: 'deployment.id', message: 'is not known to the platform' }],
    })
  }
}

/** The error for an event that came before the platform's own commit, or too late. */
export function deploymentUnknown(): IntegrationError {
  const message = 'The platform does not know this deployment, or not yet. Nothing was created.'
  const hint = 'Send the event again once GET /deployments/{id} finds the deployment.'
  return new IntegrationError('platform_unavailable', message, { hint, retryAfter: 1 })
}

/**
 * The error for an event that needs a deployment that was not deleted.
 *
 * @param at when it was deleted, in milliseconds since 1970, if that is recorded
 */
export function deploymentDeleted(id: string, at?: unknown): IntegrationError {
  const time = typeof at === 'number' ? ` at ${new Date(at).toISOString()}` : ''
  const hint = 'A DEPLOYMENT_CREATED with a later timestamp, or another id, begins a new one.'
  return new IntegrationError('deployment_deleted', `The deployment ${id} was deleted${time}.`, { hint })
}

function withoutBlanks(values: Record<string, unknown>): Record<string, unknown> {
  // A form sends an empty field as an empty string, or as null.
  const isBlank = (value: unknown) => value === null || (typeof value === 'string' && value.trim() === '')
  return Object.fromEntries(Object.entries(values).filter(([, value]) => !isBlank(value)))
}

function resolveInputs(
  values: Record<string, unknown>,
  schema: z.ZodObject,
  { shared: { environment }, trace: { credentials } }: EventParts,
  names: Set<string>,
): Record<string, unknown> {
  const lookUp: EnvironmentLookup = (name) => {
    const found = environment?.(name) ?? { problem: `names ${name}, but this host resolves no references` }
    // A variable of the host is a secret, whichever input it is for.
    if ('value' in found) credentials.add(found.value)
    return found
  }
  const errors: FieldError[] = []
  const resolve = (value: unknown, place: readonly PropertyKey[]) => {
    if (typeof value !== 'string' || !value.includes('{{')) return value
    const result = resolveReferences(value, lookUp)
    if ('problem' in result) errors.push({ path: joinPath(INPUTS, place), message: result.problem })
    else names.add(String(place[0]))
    return 'value' in result ? result.value : value
  }
  let resolved: unknown = values
  for (const path of referencePaths(schema)) resolved = replaceAt(resolved, path, resolve)
  if (errors.length > 0) throw invalidInputs(errors)
  return Object(resolved)
}

/** The error for inputs that cannot be used. */
export function invalidInputs(errors: readonly FieldError[], cause?: unknown): IntegrationError {
  const message = `The inputs of the deployment are invalid: ${summarise(errors)}.`
  return new IntegrationError('invalid_inputs', message, { errors, cause })
}

/** A reference, or “{{” that begins none: then it has no name. */
const REFERENCE = /\{\{(?:\s{0,99}env\.([A-Za-z_]\w{0,127})\s{0,99}\}\})?/g

/**
 * Replaces each `{{env.NAME}}` of a text in one pass (specification §2.4). References inside a variable's value
 * stay as they are.
 *
 * @returns the text, or which reference could not be resolved and why
 */
function resolveReferences(text: string, lookup: EnvironmentLookup): ReturnType<EnvironmentLookup> {
  const values = new Map<string, string>()
  for (const [, name] of text.matchAll(REFERENCE)) {
    if (name === undefined) return { problem: 'has “{{” that begins no reference; write {{env.NAME}}' }
    values.set(name, '')
  }
  for (const name of values.keys()) {
    const found = lookup(name)
    if ('problem' in found) return found
    values.set(name, found.value)
  }
  const value = text.replaceAll(REFERENCE, (_, name: string) => values.get(name) ?? '')
  const isTooLong = value.length > MAX_INPUT_LENGTH
  return isTooLong ? { problem: `is longer than ${withCommas(MAX_INPUT_LENGTH)} characters` } : { value }
}
