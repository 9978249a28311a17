/** Values for the arguments of a function, derived from its JSON Schema. */
import * as z from 'zod'

type Arguments = Record<string, unknown>
type Schema = z.core.JSONSchema.BaseSchema

/** One argument, or one field or item within it. */
export interface Place {
  /** For example `address.city` or `ids[0]`. */
  name: string
  /** The value among the given arguments; `undefined` if there is none. */
  value: unknown
  /** Other values that the schema takes. */
  others: unknown[]
  /** Whether the schema takes one value only. */
  fixed: boolean
  /** The arguments with this value in the place. */
  with(value: unknown): Arguments
}

const formats: Readonly<Record<string, readonly string[]>> = {
  date: ['2026-11-20', '2026-11-21'],
  'date-time': ['2026-11-20T09:00:00Z', '2026-11-21T09:00:00Z'],
  email: ['ada@example.org', 'bob@example.org'],
  e164: ['+4915112345678', '+4915112345679'],
  uri: ['https://example.org/', 'https://example.com/'],
  uuid: ['6f1d1d6e-3c0b-4b8e-9d55-0c5f9b1f2a11', '6f1d1d6e-3c0b-4b8e-9d55-0c5f9b1f2a12'],
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const branchesOf = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf
/** The only values of a choice. */
const choicesOf = ({ enum: choices, const: only }: Schema) =>
  choices ?? (only === undefined ? undefined : [only])
const itemsOf = ({ items }: Schema): Schema => (isFields(items) ? items : {})
const fieldsOf = ({ properties = {} }: Schema) =>
  Object.entries(properties).map(([name, field]): [string, Schema] => [name, isFields(field) ? field : {}])

/** Some values of the form of a schema: its examples first. It may still refuse some, for example by a pattern. */
function valuesOf(schema: Schema): unknown[] {
  const { examples = [], type, minimum = -Infinity, maximum = Infinity, minItems = 1 } = schema
  const own = choicesOf(schema) ?? branchesOf(schema)?.flatMap(valuesOf)
  if (own) return [...examples, ...own]
  switch (type) {
    case 'null':
      return [null]
    case 'boolean':
      return [...examples, true, false]
    case 'integer':
    case 'number': {
      const isAllowed = (value: number) => value >= minimum && value <= maximum && Number.isFinite(value)
      return [...examples, ...[1, 2, minimum, minimum + 1, maximum].filter(isAllowed)]
    }
    case 'array': {
      const [item] = valuesOf(itemsOf(schema))
      return [...examples, Array(Math.max(1, minItems)).fill(item)]
    }
    case 'object':
      return [...examples, ...generateObjects(schema)]
    default:
      return [...examples, ...generateTexts(schema)]
  }
}

function generateTexts({ format = '', minLength = 0, maxLength, examples = [] }: Schema): string[] {
  const words = ['text', 'word'].map((word) => word.padEnd(minLength, word).slice(0, maxLength))
  // An example with another last letter has the form of the example.
  const similar = examples
    .filter((example) => typeof example === 'string')
    .flatMap((example) => [example.replace(/.$/, 'a'), example.replace(/.$/, '1')])
  return [...(formats[format] ?? []), ...similar, ...words]
}

/** With the required fields, and with all of them. */
function generateObjects(schema: Schema): unknown[] {
  const { required = [], additionalProperties: others } = schema
  const fields = fieldsOf(schema)
  if (fields.length === 0) return valuesOf(isFields(others) ? others : {}).map((value) => ({ key: value }))
  const all = fields.map(([name, field]) => [name, valuesOf(field)[0]] as const)
  return [all.filter(([name]) => required.includes(name)), all].map((chosen) => Object.fromEntries(chosen))
}

function* placesIn(
  schema: Schema,
  value: unknown,
  name: string,
  set: (value: unknown) => unknown,
): Generator<Omit<Place, 'with'> & { set: (value: unknown) => unknown }> {
  const others = valuesOf(schema).filter((other) => JSON.stringify(other) !== JSON.stringify(value))
  yield { name, value, others, fixed: choicesOf(schema)?.length === 1, set }
  for (const branch of branchesOf(schema) ?? [schema]) {
    const isOfBranch = branch.type === 'array' ? Array.isArray(value) && value.length > 0 : isFields(value)
    const whole = isOfBranch ? value : valuesOf(branch)[0]
    if (isFields(whole)) {
      for (const [field, inner] of fieldsOf(branch))
        yield* placesIn(inner, whole[field], `${name}.${field}`, (other) => set({ ...whole, [field]: other }))
    }
    if (Array.isArray(whole) && branch.items !== undefined)
      yield* placesIn(itemsOf(branch), whole[0], `${name}[0]`, (item) => set([item, ...whole.slice(1)]))
  }
}

/**
 * Every place among the arguments of a function.
 *
 * @param schema of the arguments
 * @param given arguments that the function takes
 */
export function placesOf(schema: z.ZodObject, given: Arguments): Place[] {
  return fieldsOf(z.toJSONSchema(schema, { io: 'input' })).flatMap(([argument, field]) => {
    const takes = (value: unknown) => z.safeParse(schema.shape[argument] ?? z.never(), value).success
    const places = [...placesIn(field, given[argument], argument, (value) => value)]
    return places.map(({ set, others, ...place }) => ({
      ...place,
      // Without a value, too, if it is optional.
      others: [...others, undefined].filter((other) => other !== place.value && takes(set(other))),
      with: (value: unknown) => ({ ...given, [argument]: set(value) }),
    }))
  })
}
