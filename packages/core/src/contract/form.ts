/** Forms (contract §8): what a platform needs to draw one for the inputs of a deployment, as JSON Schema alone. */
import * as z from 'zod'
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

/**
 * Makes the schema of a form. Each field accepts what the host accepts, as far as a schema can tell: an optional text may
 * be blank. The form hides the fields that a choice asks for, because they are in its `then` alone.
 */
export function toFormSchema(inputs: z.ZodObject): JsonSchema {
  const schema = toJsonSchema(inputs, 'input')
  const { properties = {}, required = [] }: Field = schema
  const asking = readAsking(inputs)
  const always: Record<string, Field> = {}
  const asked: Record<string, Field> = {}
  for (const [order, [name, whole]] of Object.entries(properties).entries()) {
    const words = asking.properties[name]
    const field: Field = { title: name, ...Object(whole), ...words, order }
    if (field.environmentReference === true) allowReference(field)
    const isRequired = (words ? asking.required : required).includes(name)
    const fields = words ? asked : always
    fields[name] = isRequired ? { pattern: FILLED, ...field } : orBlank(field)
  }
  if (Object.keys(asked).length === 0) return { ...schema, properties: always }
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  return { ...schema, properties: always, then: { ...Object(schema.then), properties: asked } }
}

function orBlank({ minLength: _, format: _format, ...field }: Field): Field {
  const { pattern, oneOf, default: initial } = field
  if (pattern !== undefined) field.pattern = String.raw`^\s*$|${pattern}`
  if (!oneOf || initial !== undefined) return field
  // Form libraries choose the first of several constants by themselves.
  return { ...field, oneOf: [{ const: '', title: 'None' }, ...oneOf], default: '' }
}

/**
 * Makes the schema of the inputs of an event: that of the form, and also the fields that a choice asks for, because
 * generators of clients read no `then`. Without the choice, they may hold any text.
 */
export function toInputsSchema(inputs: z.ZodObject): JsonSchema {
  const form = toFormSchema(inputs)
  const asked: Record<string, Field> = Object(form.then).properties ?? {}
  const open = Object.entries(asked).map(([name, field]) => {
    const { pattern: _, maxLength: _most, allOf: _all, ...rest } = field
    return [name, rest]
  })
  return { ...form, properties: { ...Object(form.properties), ...Object.fromEntries(open) } }
}
