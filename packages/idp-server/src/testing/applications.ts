/** Applications and domains: the fields of requests, and the format of responses. */
import { type IdpInstance, withUndocumented } from '@org/idp/testing'
import * as z from 'zod'
import { templates } from '../client.ts'

/** The body of `POST /platform/applications`, as far as the client uses it. The emulator refuses every other field. */
export const newApplicationFields = z.strictObject({
  name: z.string().min(1),
  domain: z
    .string()
    .regex(/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i)
    .optional(),
  environment_types: z
    .array(z.enum(['development', 'production']))
    .min(1)
    .optional(),
  template: z.literal(Object.keys(templates)).optional(),
})

/** The body of `PATCH /platform/applications/{id}`, as far as the client uses it. */
export const renameFields = z.strictObject({ name: z.string().min(1) })

/** The fields of a new application. */
export type NewApplication = z.output<typeof newApplicationFields>

/** An emulated application. */
export interface EmulatedApplication {
  /** `app_…` */
  applicationId: string
  /** The workspace of the token that created it. */
  workspace: string
  name: string
  template: string | undefined
  /** The domain of the production instance. */
  domain: string | undefined
  /** One for each environment. The Backend API serves them. */
  instances: IdpInstance[]
}

/** Describes an application in the provider's format. */
export function describeApplication(
  { applicationId, name, instances }: EmulatedApplication,
  withSecretKeys: boolean,
): object {
  return withUndocumented({
    application_id: applicationId,
    name,
    instances: instances.map(({ id, environmentType, secretKey, publishableKey }) =>
      withUndocumented({
        instance_id: id,
        environment_type: environmentType,
        ...(withSecretKeys ? { secret_key: secretKey } : {}),
        publishable_key: publishableKey,
      }),
    ),
  })
}

type Domain = IdpInstance['domains'][number]

/** The records of a domain: subdomain, and target. */
const cnames = ({ name }: Domain) =>
  Object.entries({
    clerk: 'frontend-api.clerk.services',
    accounts: 'accounts.clerk.services',
    clkmail: `mail.${name}.clerk.services`,
    'clk._domainkey': `dkim1.${name}.clerk.services`,
    'clk2._domainkey': `dkim2.${name}.clerk.services`,
  })

/** Describes a domain in the provider's format. */
export function describeDomain(domain: Domain): object {
  const targets = cnames(domain).map(([label, value]) => {
    return { host: `${label}.${domain.name}`, value, required: true }
  })
  return withUndocumented({ ...domain, cname_targets: targets })
}

/** Describes what the provider found of a domain's records: all, or none. */
export function describeDomainStatus(domain: Domain, verified: boolean): object {
  const found = cnames(domain).map(([label, to]) => {
    return [label, { clerk_subdomain: label, from: `${label}.${domain.name}`, to, verified, required: true }]
  })
  const status = verified ? 'complete' : 'not_started'
  return withUndocumented({ dns: { status, cnames: Object.fromEntries(found) }, ssl: { status } })
}
