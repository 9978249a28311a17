/**
 * Tolerant schemas for the provider's responses.
 *
 * @see https://clerk.com/docs/reference/platform-api
 * @module
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

/** The body of an error response. Only the first error is used. */
export const wireErrors = z.object({
  errors: z.array(z.object({ code: optionalText, message: optionalText, long_message: optionalText })).min(1),
})

/** An application with its instances. */
export type Application = z.output<typeof wireApplication>

/** One environment of an application. */
export type Instance = Application['instances'][number]
