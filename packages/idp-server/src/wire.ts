/**
 * Tolerant schemas for the provider's responses.
 *
 * @see https://clerk.com/docs/reference/platform-api
 */
import * as z from 'zod'

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined)

/** An application, in the response of every endpoint. Any response may lack the keys. */
export const wireApplication = z
  .object({
    application_id: z.string().min(1),
    name: optionalText,
    instances: z.array(
      z
        .object({
          instance_id: z.string().min(1),
          environment_type: z.string(),
          publishable_key: optionalText,
          secret_key: optionalText,
        })
        .transform((wire) => ({
          instanceId: wire.instance_id,
          environmentType: wire.environment_type,
          publishableKey: wire.publishable_key,
          secretKey: wire.secret_key,
        })),
    ),
  })
  .transform(({ application_id, name, instances }) => ({ applicationId: application_id, name, instances }))

/** `DELETE /platform/applications/{id}`. */
export const wireDeleted = z.object({ deleted: z.literal(true) })

/** The arguments whose names differ from the provider's. */
const argumentNames = new Map([['environment_types', 'environmentTypes']])

const wireError = z
  .object({
    code: optionalText,
    message: optionalText,
    long_message: optionalText,
    meta: z
      .object({
        // Anything but a name might be a value, and is left out.
        param_name: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,63}$/)
          .transform((name) => argumentNames.get(name) ?? name),
      })
      .optional()
      .catch(undefined),
  })
  .transform(({ code, message, long_message, meta }) => ({
    code,
    message: long_message ?? message,
    path: meta?.param_name ?? '',
  }))

/** The body of an error response. Errors in another format are left out. */
export const wireErrors = z
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
    const errors = known.flatMap(({ path, message, code }) => {
      const words = message ?? code
      return words === undefined ? [] : [{ path, message: words }]
    })
    const { code, message } = known[0] ?? {}
    return { code, message, traceId, errors: errors.length === 0 ? undefined : errors }
  })

/** An application with its instances. */
export type Application = z.output<typeof wireApplication>

/** One environment of an application. */
export type Instance = Application['instances'][number]
