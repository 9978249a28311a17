/**
 * The client of the Platform API: the only file that knows its URLs.
 *
 * @see https://clerk.com/docs/reference/platform-api
 */
import { IntegrationError } from '@org/core/errors'
import type { CallOptions } from '@org/core/http'
import type { Environment } from '@org/idp'
import { type ConnectionOptions, connectApi } from '@org/idp/api'
import * as z from 'zod'
import { provider } from './errors.ts'
import {
  type Application,
  type Domain,
  type DomainStatus,
  wireApplication,
  wireDeleted,
  wireDomainStatus,
  wireDomains,
} from './wire.ts'

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
