/** Applications: the checks of a create, and the format of a response. */
import {
  type EnvironmentType,
  type IdpInstance,
  Refusal,
  reason,
  refusals,
  withUndocumented,
} from '@org/idp/testing'
import * as z from 'zod'
import { templates } from '../client.ts'

/** The body of `POST /platform/applications`, as far as the client uses it. The emulator refuses every other field. */
export const newApplicationFields = z.strictObject({
  name: z.string(),
  domain: z.string().optional(),
  environment_types: z.array(z.string()).optional(),
  template: z.string().optional(),
})

/** The body of `PATCH /platform/applications/{id}`, as far as the client uses it. */
export const renameFields = z.strictObject({ name: z.string().min(1) })

/** The body of `POST /platform/applications/{id}/instances`, without the clone of another instance. */
export const newInstanceFields = z.strictObject({ domain: z.string() })

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

/**
 * Checks the fields of a create.
 *
 * @returns the environments of the application
 * @throws {Refusal} as the provider refuses it
 */
export function checkNewApplication(
  { name, environment_types = ['development'], template, domain }: NewApplication,
  applications: Iterable<EmulatedApplication>,
): EnvironmentType[] {
  if (name.trim() === '') throw refusals.parameter('form_param_nil', 'name', 'Enter name.')
  const environments = (['development', 'production'] as const).filter((type) =>
    environment_types.includes(type),
  )
  if (environments.length === 0 || environments.length !== environment_types.length) {
    const message = `invalid environment types: ${environment_types.join(', ')}`
    throw new Refusal(400, reason('invalid_environment_type', 'invalid environment type', message))
  }
  if (template !== undefined && !Object.hasOwn(templates, template)) {
    throw refusals.wrongValue('template', template)
  }
  if (domain !== undefined) checkDomain(domain, applications)
  if (environments.includes('production') && domain === undefined) {
    const message = '`domain` is required when `environment_types` is `production`.'
    throw refusals.parameter('form_conditional_param_missing', 'domain', 'is missing', message)
  }
  return environments
}

/** @throws {Refusal} for the domain of another application, and for what is no domain */
export function checkDomain(domain: string, applications: Iterable<EmulatedApplication>): void {
  if (!/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i.test(domain)) {
    throw refusals.wrongFormat('domain', 'domain must be a valid domain name.')
  }
  if ([...applications].some((application) => application.domain === domain.toLowerCase())) {
    const message = `The ${domain} root domain is already in use by another application.`
    throw refusals.parameter('home_url_taken', 'domain', 'Domain already in use', message)
  }
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
  const targets = cnames(domain).map(([label, value]) => ({ host: `${label}.${domain.name}`, value }))
  return withUndocumented({
    ...domain,
    cname_targets: targets.map((target) => ({ ...target, required: true })),
  })
}

/** Describes what the provider found of a domain's records: all, or none. */
export function describeDomainStatus(domain: Domain, verified: boolean): object {
  const found = cnames(domain).map(([label, to]) => {
    const from = `${label}.${domain.name}`
    return [label, { clerk_subdomain: label, from, to, verified, required: true, failure_hints: null }]
  })
  const status = verified ? 'complete' : 'not_started'
  return withUndocumented({
    dns: { status, cnames: Object.fromEntries(found) },
    ssl: { status, required: true, failure_hints: null },
    status: verified ? 'complete' : 'incomplete',
  })
}
