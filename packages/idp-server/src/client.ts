/**
 * The client of the Platform API: the only file that knows its URLs, and what its failures mean. The API is a beta: if
 * it may not be enabled for the workspace, the error says so.
 *
 * @see https://clerk.com/docs/reference/platform-api
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import type { CallOptions, Provider } from '@org/core/http'
import type { Environment } from '@org/idp'
import { type ConnectionOptions, connectApi, wireErrorsFor } from '@org/idp/api'
import * as z from 'zod'

/** The templates that preconfigure an application, and what each is for. */
export const templates = {
  'b2b-saas': 'Software for companies',
  'b2c-saas': 'Software for consumers',
  waitlist: 'A waiting list',
} as const

/** Options of {@link createIdpPlatformClient}. */
export interface IdpPlatformClientOptions extends ConnectionOptions {
  /** The Platform API access token of a workspace; not the secret key of an instance. */
  platformApiKey: string
}

/** An application to create. */
export interface NewApplication {
  name: string
  /** @default ['development'] */
  environmentTypes?: readonly Environment[] | undefined
  /** For a production instance. */
  domain?: string | undefined
  template?: keyof typeof templates | undefined
}

/** Options of the reading methods. */
export interface ReadOptions extends CallOptions {
  /**
   * Include the secret keys of the instances.
   * @default false
   */
  includeSecretKeys?: boolean | undefined
}

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value || undefined)

/** An application, in the response of every endpoint. Any response may lack the keys. */
const wireApplication = z
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
const wireDeleted = z.object({ deleted: z.literal(true) })

/** `GET /platform/applications/{id}/domains`. A domain of the provider's own needs no records. */
const wireDomains = z
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
const wireDomainStatus = z
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

/** The provider lists all applications in one response, of about 300 bytes each. */
const LONGEST_LIST = { maxBytes: 64 * 1024 * 1024, maxValues: Number.POSITIVE_INFINITY }

/**
 * Makes a client for the applications of a workspace. Every method throws an `IntegrationError`.
 *
 * @example
 * ```ts
 * const platform = createIdpPlatformClient({ platformApiKey })
 * const { applicationId, instances } = await platform.createApplication({ name: 'Shop' })
 * ```
 */
export function createIdpPlatformClient(options: IdpPlatformClientOptions) {
  const { platformApiKey: credential, ...connection } = options
  const { call } = connectApi(provider, { ...connection, credential })
  const root = '/platform/applications'
  return {
    /**
     * Creates an application with an instance for each environment, and returns their keys.
     *
     * @throws `outcome_unknown` if the application may have been created: look for it before you try again
     */
    async createApplication(application: NewApplication, options?: CallOptions): Promise<Application> {
      const { name, environmentTypes, domain, template } = application
      const json = { name, environment_types: environmentTypes, domain, template }
      const request = { method: 'POST', path: root, json, change: 'the application was created' } as const
      return call(request, wireApplication, options)
    },

    async getApplication(applicationId: string, options?: ReadOptions): Promise<Application> {
      const query = toQuery(options)
      return call({ method: 'GET', path: pathOf(applicationId), query }, wireApplication, options)
    },

    /** Lists all applications: this endpoint has no pages. */
    async listApplications(options?: ReadOptions): Promise<Application[]> {
      const request = { method: 'GET', path: root, query: toQuery(options), ...LONGEST_LIST } as const
      return call(request, z.array(wireApplication), options)
    },

    /** Renames an application. Renaming twice is harmless, so the call is retried. */
    async renameApplication(applicationId: string, name: string, options?: CallOptions): Promise<void> {
      await call({ method: 'PATCH', path: pathOf(applicationId), json: { name } }, wireApplication, options)
    },

    /**
     * Deletes an application with its users. Deleting twice does no harm, so the call is retried.
     *
     * @throws `provider_rejected` with `provider.status` 404 if it is already gone, for example after a retry
     */
    async deleteApplication(applicationId: string, options?: CallOptions): Promise<void> {
      await call({ method: 'DELETE', path: pathOf(applicationId) }, wireDeleted, options)
    },

    /** Lists the domains of the production instance, each with the DNS records that it needs. */
    async listDomains(applicationId: string, options?: CallOptions): Promise<Domain[]> {
      return call({ method: 'GET', path: `${pathOf(applicationId)}/domains` }, wireDomains, options)
    },

    /** Gets what the last DNS check of a domain found. */
    async getDomainStatus(
      applicationId: string,
      domainId: string,
      options?: CallOptions,
    ): Promise<DomainStatus> {
      const path = `${pathOf(applicationId, domainId)}/status`
      return call({ method: 'GET', path }, wireDomainStatus, options)
    },

    /**
     * Triggers a DNS check, and returns what is known of the domain.
     *
     * @throws `provider_rejected` with `provider.status` 409 if one was made a short time ago
     */
    async checkDomain(applicationId: string, domainId: string, options?: CallOptions): Promise<DomainStatus> {
      const path = `${pathOf(applicationId, domainId)}/dns_check`
      return call({ method: 'POST', path }, wireDomainStatus, options)
    },
  }
}

/** The applications of a workspace. */
export type IdpPlatformClient = ReturnType<typeof createIdpPlatformClient>

function toQuery({ includeSecretKeys }: ReadOptions = {}) {
  return { include_secret_keys: includeSecretKeys || undefined }
}

function pathOf(applicationId: string, domainId?: string): string {
  const ids = [applicationId, domainId].filter((id) => id !== undefined)
  // Such an id would name the list of applications, or its parent, or no path at all.
  const invalid = ids.find((id) => /^\.{0,2}$/.test(id) || !id.isWellFormed())
  if (invalid !== undefined)
    throw new IntegrationError('invalid_arguments', `“${invalid}” is not the id of an application or domain.`)
  return `/platform/applications/${ids.map(encodeURIComponent).join('/domains/')}`
}

/** Advice for statuses of the Platform API. */
const hints: Record<number, string> = {
  402: 'The plan of the workspace does not include this. The Platform API is a beta, which the provider enables on request.',
  403: 'The token lacks a permission: check its scopes (applications:manage), and whether the Platform API beta is enabled for the workspace.',
  404: 'The application is gone, the Platform API beta is not enabled for the workspace, or the base URL is wrong.',
}

const wireErrors = wireErrorsFor(['environmentTypes'])

/** The provider, as errors name it. */
const provider: Provider = {
  name: 'idp-server',
  title: 'The identity provider’s Platform API',
  credentials: {
    title: 'Platform API access token',
    missingHint: 'Pass it as platformApiKey.',
    rejectedHint:
      'Check the Platform API access token, which is not the secret key of an instance. The Platform API is a beta: the provider may have to enable it for the workspace first.',
  },
  // An application that nobody has: its 404 is the answer.
  probe: { path: '/platform/applications/app_none', isAnswer: () => false },
  isOwnForm: (body) => wireErrors.safeParse(body).success,
  readFailure({ body, status }) {
    const words = wireErrors.safeParse(body).data
    return { ...words, hint: status === undefined ? undefined : hints[status] }
  },
}

/**
 * Tells whether the provider has no such application. Its 404 has a code: that of a proxy or of a wrong base URL
 * has none.
 */
export function isNotFound(error: unknown): error is IntegrationError {
  return isIntegrationError(error) && error.provider?.status === 404 && error.provider.code !== undefined
}
