/** Forms (contract §8): what a platform needs to draw one for the inputs of a deployment, as JSON Schema alone. */
import * as z from 'zod'
import type { FieldError } from '../errors.ts'
import { FILLED, type JsonSchema, toJsonSchema } from './marks.ts'

/**
 * Names the choices of a field for people. The schema offers each as a `const` with a `title`.
 *
 * @example
 * ```ts
 * choices({ shared: 'The platform’s', dedicated: 'My own' })
 * ```
 */
export function choices<const Value extends string>(labels: Readonly<Record<Value, string>>) {
  return z.enum(Object.keys(labels).filter((value): value is Value => value in labels)).meta({ labels })
}

function orBlank({ pattern, ...field }: { readonly pattern?: unknown }): object {
  return pattern === undefined ? field : { ...field, pattern: String.raw`^\s*$|${pattern}` }
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
  const filled = Object.entries(required).map(([name, schema]) => [name, { pattern: FILLED, ...schema }])
  const blankable = Object.entries(optional).map(([name, schema]) => [name, orBlank(schema)])
  return {
    if: { properties: { [field]: { const: value } }, required: [field] },
    // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
    then: { required: Object.keys(required), properties: Object.fromEntries([...filled, ...blankable]) },
  }
}

const asking = z.object({
  if: z.object({ properties: z.record(z.string(), z.object({ const: z.string() })) }),
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  then: z.object({ properties: z.record(z.string(), z.unknown()) }),
})

/**
 * Finds the fields that a form hides, because their choice is not made ({@link asksFor}). They may still hold what
 * somebody entered before.
 *
 * @returns the name of each, with its choice: `serverType dedicated`
 */
export function hiddenFields(inputs: z.ZodObject, values: Record<string, unknown>): Map<string, string> {
  const { data } = asking.safeParse(inputs.meta())
  const [choice] = Object.entries(data?.if.properties ?? {})
  if (!choice || values[choice[0]] === choice[1].const) return new Map()
  const names = Object.keys(data?.then.properties ?? {}).filter((name) => name in values)
  return new Map(names.map((name) => [name, `${choice[0]} ${choice[1].const}`]))
}

/** Finds fields that a choice asks for ({@link asksFor}), and that the inputs do not have. */
export function findUnknownChoices(inputs: z.ZodObject): FieldError[] {
  const { data } = asking.safeParse(inputs.meta())
  const named = [...Object.keys(data?.if.properties ?? {}), ...Object.keys(data?.then.properties ?? {})]
  return named
    .filter((name) => !(name in inputs.shape))
    .map((name) => ({ path: 'inputs', message: `ask for “${name}”, which is no field of theirs` }))
}

/** The inputs with the place of each field in a form. A field without a title has its name. */
export function withOrder(inputs: z.ZodObject): z.ZodObject {
  const fields = Object.entries(inputs.shape).map(([name, field], order) => {
    const meta = z.globalRegistry.get(field)
    return [name, field.meta({ title: name, ...meta, order })] as const
  })
  return z.object(Object.fromEntries(fields)).meta({ ...inputs.meta() })
}

const conditional = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())),
  // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
  then: z.looseObject({ properties: z.record(z.string(), z.record(z.string(), z.unknown())) }).optional(),
})

/**
 * Makes the schema of a form. It accepts what the host accepts, as far as a schema can tell: an optional text may be
 * blank. The fields that a choice asks for are in its `then` alone, so that a form hides them without the choice.
 */
export function toFormSchema(inputs: z.ZodObject): JsonSchema {
  const schema = toJsonSchema(withOrder(inputs), 'input')
  const { properties, then } = conditional.parse(schema)
  for (const field of Object.values(properties)) delete field.minLength
  const required = z.array(z.string()).default([]).parse(schema.required)
  for (const [name, field] of Object.entries(properties)) {
    if (required.includes(name)) properties[name] = { pattern: FILLED, ...field }
    else if (name in (then?.properties ?? {})) continue
    // Form libraries choose the first of several constants by themselves.
    else if (Array.isArray(field.oneOf) && field.default === undefined)
      properties[name] = { ...field, oneOf: [{ const: '', title: 'None' }, ...field.oneOf], default: '' }
    else properties[name] = { ...orBlank(field) }
  }
  if (!then) return { ...schema, properties }
  const asked = Object.entries(then.properties).map(([name, more]) => {
    const { format, pattern = more.pattern, ...field } = properties[name] ?? {}
    const hasOwn = more.pattern !== undefined && more.pattern !== FILLED
    // A pattern of its own replaces the format of the field, too, which may be narrower than the host.
    return [name, { ...field, ...more, ...(!hasOwn && { format, pattern }) }]
  })
  const always = Object.entries(properties).filter(([name]) => !(name in then.properties))
  return {
    ...schema,
    properties: Object.fromEntries(always),
    // biome-ignore lint/suspicious/noThenProperty: the word is JSON Schema's.
    then: { ...then, properties: Object.fromEntries(asked) },
  }
}
