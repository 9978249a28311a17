/** The provider's own refusals, the same from its Backend and its Platform API. */
import * as z from 'zod'

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined)

const wireError = z
  .object({
    code: optionalText,
    message: optionalText,
    long_message: optionalText,
    // Anything but a name might be a value, and is left out.
    meta: z
      .object({ param_name: z.string().regex(/^[a-z][a-z0-9_]{0,63}$/) })
      .optional()
      .catch(undefined),
  })
  .transform(({ code, message, long_message, meta }) => ({
    code,
    message: long_message ?? message,
    name: meta?.param_name ?? '',
  }))

/**
 * Makes the schema of an error response's body. Errors in another format are left out.
 *
 * @param names the arguments that an error may name
 */
export function wireErrorsFor(names: readonly string[]) {
  const argumentNames = new Map(names.map((name) => [toSnakeCase(name), name]))
  return z
    .object({
      errors: z.array(wireError.nullable().catch(null)),
      clerk_trace_id: z
        .string()
        .regex(/^[\w-]{1,128}$/)
        .optional()
        .catch(undefined),
    })
    .transform(({ errors: all, clerk_trace_id: traceId }) => {
      const known = all.filter((error) => error !== null)
      const errors = known.flatMap(({ name, message, code }) => {
        const words = message ?? code
        return words === undefined ? [] : [{ path: argumentNames.get(name) ?? name, message: words }]
      })
      const { code, message } = known[0] ?? {}
      return { code, message, traceId, errors: errors.length === 0 ? undefined : errors }
    })
}

/** The provider's name of an argument. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
