/** Definitions are checked when they are made: every fault at once, each at its path. */
import * as z from 'zod'
import type { FieldError } from '../errors.ts'
import { eventTraits, type HandledEvent } from './event.ts'
import { findUnknownChoices } from './form.ts'
import type { IntegrationDefinition } from './integration.ts'
import { findHiddenMarks, referencePaths } from './marks.ts'
import { suggestion } from './suggestion.ts'
import { fieldErrors, joinPath } from './validation.ts'

/** The events that an integration may handle, each with the name of its handler. */
export const handlerNames = Object.entries(eventTraits).flatMap(([event, traits]) =>
  'handler' in traits ? [[event, traits.handler] as const] : [],
)

const isFunction = z.custom((value) => typeof value === 'function', 'expected a function')
const text = z.string().regex(/\S/, 'must not be blank')
const schema = z.custom<z.ZodType>((value) => value instanceof z.core.$ZodType, 'expected a schema of zod 4')
const fields = z.custom<z.ZodObject>((value) => value instanceof z.core.$ZodObject, 'expected z.object(…)')

const definitionShape = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z][a-z\d]*(-[a-z\d]+)*$/,
      'expected lower-case words joined by hyphens: it is a part of the route',
    ),
  title: text,
  description: text,
  events: z.array(z.enum(handlerNames.map(([event]) => event))),
  inputs: fields,
  outputs: fields,
  functions: z.record(
    z.string(),
    z.strictObject({
      description: text,
      aliases: z.array(z.string()).optional(),
      arguments: fields,
      result: schema,
      effectful: z.boolean(),
      resumable: z.boolean().optional(),
      sends: z.enum(['one', 'many']).optional(),
      settled: isFunction.optional(),
    }),
  ),
  metrics: z.record(z.string(), z.strictObject({ description: text, unit: text.optional() })),
  downloads: z.array(text),
})

/** The parts of a definition that go with an event. */
const counterparts = [
  ['functions', 'FUNCTION_CALL'],
  ['metrics', 'METRIC_UPDATE'],
  ['downloads', 'DOWNLOAD_STARTED'],
] as const satisfies readonly (readonly [keyof IntegrationDefinition, HandledEvent])[]

/**
 * Declares an integration.
 *
 * @returns the definition, with every literal kept in its type
 * @throws {TypeError} with every fault and its path: a name, an event or a field that core does not know, a value that
 * JSON cannot hold, a secret that core would not find
 */
export function defineIntegration<const D extends IntegrationDefinition>(definition: D): D {
  refuseFaults(`The integration “${definition.name}”`, findDefinitionFaults(definition))
  return definition
}

/** @throws {TypeError} if there are faults */
export function refuseFaults(subject: string, faults: readonly FieldError[]): void {
  if (faults.length === 0) return
  const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
  const lines = faults.map(({ path, message }) => `${path} ${message}`)
  throw new TypeError([`${subject} has ${count}:`, ...lines].join('\n  '))
}

/** A definition that a handler was made of before has none. */
const faultless = new WeakSet<IntegrationDefinition>()

/** Finds every fault of a definition. */
export function findDefinitionFaults(definition: IntegrationDefinition): FieldError[] {
  if (faultless.has(definition)) return []
  const { error } = definitionShape.safeParse(definition)
  const faults = error ? fieldErrors(error, '', Object.keys(definitionShape.shape)) : []
  // The checks below read what has the right form.
  const isWhole = (part: string) => !faults.some(({ path }) => path.split(/[.[]/)[0] === part)
  const all = [
    ...faults,
    ...(['inputs', 'outputs'] as const).flatMap((part) =>
      isWhole(part) ? findSchemaFaults(part, definition[part], part === 'inputs' ? 'input' : 'output') : [],
    ),
    ...(isWhole('inputs') ? findUnknownChoices(definition.inputs, 'inputs') : []),
    ...(isWhole('functions') ? findFunctionFaults(definition) : []),
    ...counterparts.flatMap(([part, event]) => {
      if (!isWhole(part) || !isWhole('events')) return []
      const hasSome = Object.keys(definition[part]).length > 0
      if (hasSome === definition.events.includes(event)) return []
      return {
        path: part,
        message: hasSome ? `need the event ${event}` : `are missing: ${event} is an event of it`,
      }
    }),
  ]
  if (all.length === 0) faultless.add(definition)
  return all
}

function findFunctionFaults({ functions }: IntegrationDefinition): FieldError[] {
  const taken = new Set<string>()
  return Object.entries(functions).flatMap(
    ([own, { aliases = [], effectful, resumable, sends, settled, ...called }]) => {
      const path = `functions.${own}`
      const misnamed = [own, ...aliases].flatMap((name) => {
        const isTaken = taken.has(name)
        taken.add(name)
        if (isTaken) return { path, message: `has the name “${name}”, as another function has` }
        return /^[A-Za-z]\w*$/.test(name)
          ? []
          : { path, message: `has the name “${name}”: expected a word of letters` }
      })
      return [
        ...misnamed,
        ...(effectful || !(resumable || sends)
          ? []
          : [{ path, message: 'is resumable or sends, so it is effectful, too' }]),
        ...(sends && !settled
          ? [{ path: `${path}.settled`, message: 'is required: every function that sends has it' }]
          : []),
        ...findSchemaFaults(`${path}.arguments`, called.arguments, 'input'),
        ...findSchemaFaults(`${path}.result`, called.result, 'output'),
      ]
    },
  )
}

/** Kinds of schemas whose values JSON cannot hold, or that no JSON Schema describes. */
const UNDESCRIBED = new Set<string>([
  ...['date', 'bigint', 'symbol', 'undefined', 'void', 'nan', 'map', 'set', 'function', 'promise', 'file'],
  ...['custom', 'transform'],
])

/** Finds values that JSON cannot hold, and marks that have no effect. */
function findSchemaFaults(base: string, given: z.ZodType, io: 'input' | 'output'): FieldError[] {
  const faults = findHiddenMarks(given)
  z.toJSONSchema(given, {
    io,
    unrepresentable: 'any',
    override({ zodSchema, path }) {
      const { type } = zodSchema._zod.def
      const message = `is a ${type}, which JSON Schema does not describe: declare what the JSON holds`
      if (UNDESCRIBED.has(type)) faults.push({ path: joinPath('', toPlace(path)), message })
    },
  })
  if (faults.length === 0 && base !== 'inputs')
    for (const path of referencePaths(given))
      faults.push({
        path,
        message: 'is marked with environmentReference(), which has an effect in inputs alone',
      })
  return faults.map(({ path, message }) => ({ path: joinPath(base, path === '' ? [] : [path]), message }))
}

/** The place of a JSON Schema in the data: `*` is each entry. */
function toPlace(path: readonly PropertyKey[]): PropertyKey[] {
  const [keyword, name, ...rest] = path
  if (keyword === undefined) return []
  if (keyword === 'properties') return [String(name), ...toPlace(rest)]
  if (/^(anyOf|oneOf|allOf|prefixItems)$/.test(String(keyword)))
    return keyword === 'prefixItems' ? ['*', ...toPlace(rest)] : toPlace(rest)
  return ['*', ...toPlace(path.slice(1))]
}

/**
 * Finds events and functions without a handler, and handlers of unknown functions.
 *
 * @param handlers see `Handlers`
 */
export function findHandlerFaults(
  { events, functions }: IntegrationDefinition,
  handlers: Readonly<Record<string, unknown>>,
): FieldError[] {
  const isMissing = (owner: unknown, name: string) => typeof Object(owner)[name] !== 'function'
  const handled: readonly string[] = events
  const known = Object.keys(functions)
  const called = handlers.functions ?? {}
  return [
    ...handlerNames
      .filter(([event, name]) => handled.includes(event) && name !== 'functions' && isMissing(handlers, name))
      .map(([event, name]) => ({ path: `handlers.${name}`, message: `is missing: it handles ${event}` })),
    ...known
      .filter((name) => isMissing(called, name))
      .map((name) => ({ path: `handlers.functions.${name}`, message: 'is missing' })),
    ...Object.keys(called)
      .filter((name) => !known.includes(name))
      .map((name) => ({
        path: `handlers.functions.${name}`,
        message: `is no function of the definition${suggestion(name, known)}`,
      })),
  ]
}
