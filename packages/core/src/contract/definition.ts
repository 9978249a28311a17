/** Definitions and handlers are checked when they are made. */
import type { FieldError } from '../errors.ts'
import { refuseFaults } from '../problem.ts'
import { eventTraits } from './event.ts'
import { definitionSchema, type IntegrationDefinition } from './integration.ts'
import { suggestion } from './suggestion.ts'
import { fieldErrors } from './validation.ts'

/**
 * Declares an integration.
 *
 * @returns the definition, with every literal kept in its type
 * @throws {TypeError} with the path of each fault: a name, an event or a field that core does not know, a value that JSON
 * cannot hold, a secret that core would not find
 */
export function defineIntegration<const D extends IntegrationDefinition>(definition: D): D {
  refuseFaults(`The integration “${definition.name}”`, findDefinitionFaults(definition))
  return definition
}

/** A definition that a handler was made of before has no faults. */
const faultless = new WeakSet<IntegrationDefinition>()

/** Finds the faults of a definition. */
export function findDefinitionFaults(definition: IntegrationDefinition): FieldError[] {
  if (faultless.has(definition)) return []
  const { error } = definitionSchema.safeParse(definition)
  if (error) return fieldErrors(error, '', Object.keys(definitionSchema.shape))
  faultless.add(definition)
  return []
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
  const { functions: called, discard: _, ...own } = handlers
  const ofFunctions = (from: object) =>
    Object.entries(from).map(([name, value]): [string, unknown] => [`functions.${name}`, value])
  const given = new Map([...Object.entries(own), ...ofFunctions(Object(called))])
  const ofEvents = events.map((event) => eventTraits[event].handler).filter((name) => name !== 'functions')
  const wanted = [...ofEvents, ...ofFunctions(functions).map(([name]) => name)]
  const missing = wanted.filter((name) => typeof given.get(name) !== 'function')
  const unknown = [...given.keys()].filter((name) => !wanted.includes(name))
  return [
    ...missing.map((name) => ({ path: `handlers.${name}`, message: 'is missing' })),
    ...unknown.map((name) => {
      return { path: `handlers.${name}`, message: `is never called${suggestion(name, wanted)}` }
    }),
  ]
}
