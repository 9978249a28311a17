/** The shapes of the Platform API, as far as they are used. */
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

/** `GET /platform/applications/{id}/domains`. A domain of the provider's own needs no records. */
export const wireDomains = z
  .object({
    data: z.array(
      z
        .object({
          id: z.string().min(1),
          name: z.string(),
          cname_targets: z
            .array(z.object({ host: z.string(), value: z.string(), required: z.boolean() }))
            .nullish(),
        })
        .transform(({ id, name, cname_targets }) => ({ domainId: id, name, cnames: cname_targets ?? [] })),
    ),
  })
  .transform(({ data }) => data)

/** `GET /platform/applications/{id}/domains/{id}/status`, and the response to a DNS check. */
export const wireDomainStatus = z
  .object({
    dns: z.object({
      status: z.string(),
      cnames: z.record(z.string(), z.object({ from: z.string(), verified: z.boolean() })),
    }),
  })
  .transform(({ dns: { status, cnames } }) => ({
    isComplete: status === 'complete',
    verified: Object.values(cnames).flatMap(({ from, verified }) => (verified ? from : [])),
  }))

/** An application with its instances. */
export type Application = z.output<typeof wireApplication>

/** One environment of an application. */
export type Instance = Application['instances'][number]

/** A domain, with the CNAME records that it needs. */
export type Domain = z.output<typeof wireDomains>[number]

/** What the provider found of a domain's records: all, or those of some hosts. */
export type DomainStatus = z.output<typeof wireDomainStatus>

/** The keys of an instance, with its id. */
export type Keys = NonNullable<ReturnType<typeof pickKeys>>

/** The keys of one environment; `undefined` if the provider did not show them. */
export function pickKeys({ instances }: Application, environmentType: string) {
  const instance = instances.find((candidate) => candidate.environmentType === environmentType)
  if (!instance?.publishableKey || !instance.secretKey) return undefined
  const { instanceId, publishableKey, secretKey } = instance
  return { instanceId, publishableKey, secretKey }
}
