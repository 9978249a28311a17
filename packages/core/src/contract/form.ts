/** Forms (contract §8): what a platform needs to draw one for the inputs of a deployment, as JSON Schema alone. */
import * as z from 'zod'
import type { FieldError } from '../errors.ts'
import { allowReference, FILLED, type JsonSchema, toJsonSchema } from './marks.ts'

type Field = z.core.JSONSchema.BaseSchema

/**
 * Names the choices of a field for people. The schema offers each as a `const` with a `title`.
 *
 * @example
 * ```ts
 * choices({ shared: 'The platform’s', dedicated: 'My own' })
 * ```
 */
export function choices<const Value extends string>(labels: Readonly<Record<Value, string>>) {
  const oneOf = Object.entries(labels).map(([value, title]) => ({ const: value, title }))
  return z.enum(Object.keys(labels).filter((value): value is Value => value in labels)).meta({ oneOf })
}

/**
 * Declares that a choice asks for other fields. A form shows them with that choice alone, and some of them have to be
 * filled in. Without the choice, these fields have no effect, whatever they hold, and the deployment's log says so.
 *
 * @param choice the field, and its value
 * @param required the fields that must not be blank then, each with the rest of its schema
 * @param optional the fields that may be blank then, in the same way
 * @returns keywords of JSON Schema for `.meta()` of the inputs. The integration refuses blank fields itself.
 */
export function asksFor(
  [field, value]: readonly [field: string, value: string],
  required: Readonly<Record<string, object>>,
  optional: Readonly<Record<string, object>> = {},
): { if: object; then: object } {
  return {
    if: { properties: { [field]: { const: value } }, required: [field] },
    // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
    then: { required: Object.keys(required), properties: { ...required, ...optional } },
  }
}

const asking = z.object({
  if: z.object({ properties: z.record(z.string(), z.object({ const: z.string() })) }),
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  then: z.object({ required: z.array(z.string()), properties: z.record(z.string(), z.custom<Field>()) }),
})

/** The choice that asks for fields ({@link asksFor}), and these fields. */
function readAsking(inputs: z.ZodObject) {
  const { data } = asking.safeParse(inputs.meta())
  const [choice, expected] = Object.entries(data?.if.properties ?? {})[0] ?? []
  return { choice, value: expected?.const, ...(data?.then ?? { required: [], properties: {} }) }
}

/**
 * Finds the fields that a form hides, because their choice is not made ({@link asksFor}). They may still hold what
 * somebody entered before.
 *
 * @returns the name of each, with its choice: `serverType dedicated`
 */
export function hiddenFields(inputs: z.ZodObject, values: Record<string, unknown>): Map<string, string> {
  const { choice, value, properties } = readAsking(inputs)
  if (choice === undefined || values[choice] === value) return new Map()
  const names = Object.keys(properties).filter((name) => name in values)
  return new Map(names.map((name) => [name, `${choice} ${value}`]))
}

/** Finds fields that a choice asks for ({@link asksFor}), and that the inputs do not have. */
export function findUnknownChoices(inputs: z.ZodObject): FieldError[] {
  const { choice, properties } = readAsking(inputs)
  return [choice, ...Object.keys(properties)]
    .filter((name) => name !== undefined && !(name in inputs.shape))
    .map((name) => ({ path: 'inputs', message: `ask for “${name}”, which is no field of theirs` }))
}

interface FormField {
  name: string
  schema: Field
  isRequired: boolean
}

/**
 * Reads the fields of a form in their order. Each accepts what the host accepts, as far as a schema can tell: an
 * optional text may be blank. `asked` are those that a choice asks for.
 */
function readForm(inputs: z.ZodObject) {
  const schema = toJsonSchema(inputs, 'input')
  const { properties = {}, required = [] }: Field = schema
  const asking = readAsking(inputs)
  const fields = Object.entries(properties).map(([name, whole], order): FormField => {
    const asked = asking.properties[name]
    const field: Field = { title: name, ...Object(whole), ...asked, order }
    if (field.environmentReference === true) allowReference(field)
    const isRequired = (asked ? asking.required : required).includes(name)
    if (isRequired) return { name, schema: { pattern: FILLED, ...field }, isRequired }
    for (const limit of ['minLength', 'format']) delete field[limit]
    if (field.pattern !== undefined) field.pattern = String.raw`^\s*$|${field.pattern}`
    return { name, schema: field, isRequired }
  })
  const isAsked = ({ name }: FormField) => name in asking.properties
  return { schema, always: fields.filter((field) => !isAsked(field)), asked: fields.filter(isAsked) }
}

/** A schema with its fields, and those that it has only with a choice. */
function withFields(
  schema: JsonSchema,
  always: readonly FormField[],
  asked: readonly FormField[],
): JsonSchema {
  const [properties, conditional] = [always, asked].map((fields) =>
    Object.fromEntries(fields.map((field) => [field.name, field.schema])),
  )
  if (asked.length === 0) return { ...schema, properties }
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  return { ...schema, properties, then: { ...Object(schema.then), properties: conditional } }
}

/** Makes the schema of a form. It hides the fields that a choice asks for, because they are in its `then` alone. */
export function toFormSchema(inputs: z.ZodObject): JsonSchema {
  const { schema, always, asked } = readForm(inputs)
  const shown = always.map((field) => {
    const { oneOf, default: initial } = field.schema
    if (field.isRequired || !oneOf || initial !== undefined) return field
    // Form libraries choose the first of several constants by themselves.
    const options = [{ const: '', title: 'None' }, ...oneOf]
    return { ...field, schema: { ...field.schema, oneOf: options, default: '' } }
  })
  return withFields(schema, shown, asked)
}

/**
 * Makes the schema of the inputs of an event. `properties` has every field, because generators of clients read no
 * `then`: those that a choice asks for may hold any text there.
 *
 * @param blank the schema of a blank value, which each optional field may have
 */
export function toInputsSchema(inputs: z.ZodObject, blank: object): JsonSchema {
  const { schema, always, asked } = readForm(inputs)
  const orBlank = (field: FormField): FormField => {
    const { title = field.name, description = '', order, immutable, ...rest } = field.schema
    const anyOf = [rest, { ...blank }]
    return field.isRequired ? field : { ...field, schema: { title, description, order, immutable, anyOf } }
  }
  const open = asked.map(({ name, schema: { pattern: _, maxLength: _most, allOf: _all, ...rest } }) =>
    orBlank({ name, schema: rest, isRequired: false }),
  )
  return withFields(schema, [...always.map(orBlank), ...open], asked.map(orBlank))
}
