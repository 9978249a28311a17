/** Definitions are checked when they are made: every fault at once, each at its path. */
import type { FieldError } from '../errors.ts'
import { faultsThat, refuseFaults } from '../problem.ts'
import { eventTraits, type HandledEvent } from './event.ts'
import { findUnknownChoices } from './form.ts'
import { definitionSchema, type IntegrationDefinition } from './integration.ts'
import { findSchemaFaults } from './marks.ts'
import { suggestion } from './suggestion.ts'
import { fieldErrors } from './validation.ts'

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

/** A definition that a handler was made of before has no faults. */
const faultless = new WeakSet<IntegrationDefinition>()

/** Finds every fault of a definition. */
export function findDefinitionFaults(definition: IntegrationDefinition): FieldError[] {
  if (faultless.has(definition)) return []
  const { error } = definitionSchema.safeParse(definition)
  const faults = error ? fieldErrors(error, '', Object.keys(definitionSchema.shape)) : []
  // The other checks read what has the right form.
  const isWhole = (part: string) => !faults.some(({ path }) => path.split(/[.[]/)[0] === part)
  const { inputs, outputs, events } = definition
  const all = [
    ...faults,
    ...(isWhole('inputs')
      ? [...findSchemaFaults('inputs', inputs, 'input'), ...findUnknownChoices(inputs)]
      : []),
    ...(isWhole('outputs') ? findSchemaFaults('outputs', outputs, 'output') : []),
    ...(isWhole('functions') ? findFunctionFaults(definition) : []),
    ...counterparts.flatMap(([part, event]) => {
      if (!isWhole(part) || !isWhole('events')) return []
      const [hasSome, isHandled] = [Object.keys(definition[part]).length > 0, events.includes(event)]
      return faultsThat(
        [hasSome && !isHandled, part, `need the event ${event}`],
        [isHandled && !hasSome, part, `are missing: ${event} is an event of it`],
      )
    }),
  ]
  if (all.length === 0) faultless.add(definition)
  return all
}

function findFunctionFaults({ functions }: IntegrationDefinition): FieldError[] {
  const taken = new Set<string>()
  return Object.entries(functions).flatMap(([own, called]) => {
    const { aliases = [], effectful, resumable, sends, settled } = called
    const path = `functions.${own}`
    const ofNames = [own, ...aliases].flatMap((name) => {
      const isTaken = taken.has(name)
      taken.add(name)
      return faultsThat(
        [isTaken, path, `has the name “${name}”, as another function has`],
        [!/^[A-Za-z]\w*$/.test(name), path, `has the name “${name}”: expected a word of letters`],
      )
    })
    const examples = [called.arguments.meta()?.examples ?? []].flat()
    const isRefused = examples.some((example) => !called.arguments.safeParse(example).success)
    const changes = resumable === true || sends !== undefined
    return [
      ...ofNames,
      ...faultsThat(
        [changes && !effectful, path, 'is resumable or sends, so it is effectful, too'],
        [isRefused, `${path}.arguments`, 'refuse an example of their own'],
        [sends !== undefined && !settled, `${path}.settled`, 'is required: every function that sends has it'],
      ),
      ...findSchemaFaults(`${path}.arguments`, called.arguments, 'input'),
      ...findSchemaFaults(`${path}.result`, called.result, 'output'),
    ]
  })
}

/**
 * Finds events and functions without a handler, and handlers that are never called.
 *
 * @param handlers see `Handlers`
 */
export function findHandlerFaults(
  { events, functions }: IntegrationDefinition,
  handlers: Readonly<Record<string, unknown>>,
): FieldError[] {
  const known = Object.keys(functions)
  const given = Object(handlers.functions)
  const isMissing = (handler: unknown) => typeof handler !== 'function'
  const names = ['discard', ...events.map((event) => eventTraits[event].handler)]
  return [
    ...Object.keys(handlers).flatMap((name) => {
      const message = `handles no event of the definition${suggestion(name, names)}`
      return faultsThat([!names.includes(name), `handlers.${name}`, message])
    }),
    ...events.flatMap((event) => {
      const { handler } = eventTraits[event]
      const isOwn = handler !== 'functions' && isMissing(handlers[handler])
      return faultsThat([isOwn, `handlers.${handler}`, `is missing: it handles ${event}`])
    }),
    ...known.flatMap((name) =>
      faultsThat([isMissing(given[name]), `handlers.functions.${name}`, 'is missing']),
    ),
    ...Object.keys(given).flatMap((name) => {
      const message = `is no function of the definition${suggestion(name, known)}`
      return faultsThat([!known.includes(name), `handlers.functions.${name}`, message])
    }),
  ]
}
