/**
 * Applications: what one is created of, and how one is answered.
 *
 * @module
 */
import {
  type EnvironmentType,
  type IdpInstance,
  parameterReason,
  Refusal,
  reason,
  refusals,
  withUndocumented,
} from '@org/idp/testing'
import * as z from 'zod'

/** `POST /platform/applications`, as documented: every other field is refused. */
export const newApplicationFields = z.strictObject({
  name: z.string(),
  domain: z.string().optional(),
  environment_types: z.array(z.string()).optional(),
  template: z.string().optional(),
  proxy_path: z.string().optional(),
})

/** What an application is created of. */
export type NewApplication = z.output<typeof newApplicationFields>

/** An application that the emulator keeps. */
export interface EmulatedApplication {
  /** `app_…` */
  applicationId: string
  name: string
  template: string | undefined
  /** Of the production instance. */
  domain: string | undefined
  /** One per environment; each is an instance of the Backend API, too. */
  instances: IdpInstance[]
}

const environmentTypes: readonly EnvironmentType[] = ['development', 'production']
const templates = ['b2b-saas', 'b2c-saas', 'waitlist']

/**
 * @returns the environments that are asked for
 * @throws {Refusal} where no such application can be created
 */
export function checkNewApplication(
  fields: NewApplication,
  applications: Iterable<EmulatedApplication>,
): EnvironmentType[] {
  if (fields.name.trim() === '')
    throw new Refusal(422, parameterReason('form_param_nil', 'name', 'Enter name.'))
  const environments = readEnvironments(fields.environment_types ?? ['development'])
  if (fields.template !== undefined && !templates.includes(fields.template)) {
    const message = `${fields.template} does not match the allowed values for parameter template. Allowed values: ${templates.join(', ')}`
    throw new Refusal(422, parameterReason('form_param_value_invalid', 'template', 'is invalid', message))
  }
  if (fields.proxy_path !== undefined && !/^\/[^/\s]+$/.test(fields.proxy_path)) {
    throw refusals.wrongFormat('proxy_path', 'proxy_path must be one path segment with a leading slash.')
  }
  if (fields.domain !== undefined) checkDomain(fields.domain, applications)
  if (environments.includes('production') && fields.domain === undefined) throw missingDomain()
  return environments
}

function readEnvironments(names: readonly string[]): EnvironmentType[] {
  const unknown = names.filter((name) => !environmentTypes.some((type) => type === name))
  if (unknown.length > 0 || names.length === 0) {
    const message = `invalid environment types: ${unknown.join(', ')}`
    throw new Refusal(400, reason('invalid_environment_type', 'invalid environment type', message))
  }
  if (new Set(names).size < names.length) {
    const message = 'duplicate list items not allowed'
    throw new Refusal(
      422,
      reason('duplicate_list_items_not_allowed', message, `${message}: environment_types`),
    )
  }
  return environmentTypes.filter((type) => names.includes(type))
}

function checkDomain(domain: string, applications: Iterable<EmulatedApplication>): void {
  if (!/^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i.test(domain)) {
    throw refusals.wrongFormat('domain', 'domain must be a valid domain name.')
  }
  for (const application of applications) {
    if (application.domain !== domain.toLowerCase()) continue
    const message = `The ${domain} root domain is already in use by another application.`
    throw new Refusal(422, parameterReason('home_url_taken', 'domain', 'Domain already in use', message))
  }
}

function missingDomain(): Refusal {
  const message = '`domain` is required when `environment_types` is `production`.'
  return new Refusal(422, parameterReason('form_conditional_param_missing', 'domain', 'is missing', message))
}

/** An application, as it is answered. */
export function describeApplication(
  { applicationId, name, instances }: EmulatedApplication,
  { withSecretKeys }: { withSecretKeys: boolean },
): object {
  return withUndocumented({
    application_id: applicationId,
    name,
    instances: instances.map((instance) =>
      withUndocumented({
        instance_id: instance.id,
        environment_type: instance.environmentType,
        ...(withSecretKeys ? { secret_key: instance.secretKey } : {}),
        publishable_key: instance.publishableKey,
      }),
    ),
  })
}
