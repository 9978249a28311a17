/** Values for the arguments of a function, derived from its JSON Schema. */
import * as z from 'zod'

type Arguments = Record<string, unknown>

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

const jsonSchema = z.looseObject({
  type: z.union([z.string(), z.array(z.string()).transform(([first]) => first)]).optional(),
  format: z.string().default(''),
  minLength: z.number().default(0),
  maxLength: z.number().optional(),
  minimum: z.number().default(Number.NEGATIVE_INFINITY),
  maximum: z.number().default(Number.POSITIVE_INFINITY),
  exclusiveMinimum: z.number().default(Number.NEGATIVE_INFINITY),
  multipleOf: z.number().default(1),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  examples: z.array(z.unknown()).default([]),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  items: z.unknown().optional(),
  minItems: z.number().default(1),
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
  additionalProperties: z.unknown().optional(),
})
type Known = z.output<typeof jsonSchema>

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
const textOf = (value: unknown) => JSON.stringify(value)

/** The only values of a choice. */
const choicesOf = (known: Known) => known.enum ?? (known.const === undefined ? undefined : [known.const])

/** Some values of the form of a schema: its examples first. It may still refuse some, for example by a pattern. */
function valuesOf(schema: unknown): unknown[] {
  const known = jsonSchema.parse(schema)
  return [...known.examples, ...(choicesOf(known) ?? generate(known))]
}

function generate(known: Known): unknown[] {
  const { type, minimum, maximum, exclusiveMinimum, multipleOf: step } = known
  const branches = known.anyOf ?? known.oneOf
  if (branches) return branches.flatMap(valuesOf)
  switch (type) {
    case undefined:
    case 'string':
      return generateTexts(known)
    case 'boolean':
      return [true, false]
    case 'integer':
    case 'number':
      return [step, 2 * step, minimum, minimum + step, exclusiveMinimum + step, maximum].filter(
        (value) => value >= minimum && value > exclusiveMinimum && value <= maximum && Number.isFinite(value),
      )
    case 'array':
      return valuesOf(known.items ?? {})
        .slice(0, 1)
        .map((item) => Array.from({ length: Math.max(1, known.minItems) }, () => item))
    case 'object':
      return generateObjects(known)
    default:
      return type === 'null' ? [null] : []
  }
}

function generateTexts({ format, minLength, maxLength, examples }: Known): string[] {
  const words = ['text', 'word'].map((word) => word.padEnd(minLength, word).slice(0, maxLength))
  // An example with another last letter has the form of the example.
  const similar = examples
    .filter((example) => typeof example === 'string')
    .flatMap((example) => [example.replace(/.$/, 'a'), example.replace(/.$/, '1')])
  return [...(formats[format] ?? []), ...similar, ...words]
}

/** With the required fields, and with all of them. */
function generateObjects({ properties, required, additionalProperties }: Known): unknown[] {
  const names = Object.keys(properties)
  if (names.length === 0)
    return valuesOf(isFields(additionalProperties) ? additionalProperties : {}).map((value) => ({
      key: value,
    }))
  return [required, names].map((chosen) =>
    Object.fromEntries(chosen.map((name) => [name, valuesOf(properties[name] ?? {})[0]])),
  )
}

function* placesIn(
  schema: unknown,
  value: unknown,
  name: string,
  set: (value: unknown) => unknown,
): Generator<Omit<Place, 'with'> & { set: (value: unknown) => unknown }> {
  const known = jsonSchema.parse(schema)
  const others = valuesOf(schema).filter((other) => textOf(other) !== textOf(value))
  yield { name, value, others, fixed: choicesOf(known)?.length === 1, set }
  for (const branch of known.anyOf ?? known.oneOf ?? [schema]) {
    const { properties, items, type } = jsonSchema.parse(branch)
    const isValueOfBranch = type === 'array' ? Array.isArray(value) && value.length > 0 : isFields(value)
    const whole = isValueOfBranch ? value : valuesOf(branch)[0]
    if (isFields(whole)) {
      for (const [field, property] of Object.entries(properties))
        yield* placesIn(property, whole[field], `${name}.${field}`, (inner) =>
          set({ ...whole, [field]: inner }),
        )
    }
    if (Array.isArray(whole) && items !== undefined)
      yield* placesIn(items, whole[0], `${name}[0]`, (inner) => set([inner, ...whole.slice(1)]))
  }
}

/**
 * Every place among the arguments of a function.
 *
 * @param schema of the arguments
 * @param given arguments that the function takes
 */
export function placesOf(schema: z.ZodObject, given: Arguments): Place[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input' })
  return Object.entries(properties).flatMap(([argument, property]) => {
    const takes = (value: unknown) => {
      const field = schema.shape[argument]
      return field !== undefined && z.safeParse(field, value).success
    }
    const places = [...placesIn(property, given[argument], argument, (value) => value)]
    return places.map(({ set, others, ...place }) => ({
      ...place,
      // Without a value, too, if it is optional.
      others: [...others, ...(place.value === undefined ? [] : [undefined])].filter((other) =>
        takes(set(other)),
      ),
      with: (value: unknown) => ({ ...given, [argument]: set(value) }),
    }))
  })
}
