/**
 * The client of the Platform API: the only file that knows its URLs and headers.
 *
 * @see https://clerk.com/docs/reference/platform-api
 */
import { IntegrationError } from '@org/core/errors'
import { type CallOptions, createProviderClient, type ProviderRequest } from '@org/core/http'
import type { Environment } from '@org/idp'
import * as z from 'zod'
import { idpPlatformProvider } from './errors.ts'
import { type Application, wireApplication, wireDeleted } from './wire.ts'

const DEFAULT_BASE_URL = 'https://api.clerk.com/v1'

/** The templates that preconfigure an application, and what each is for. */
export const templates = {
  'b2b-saas': 'Software for companies',
  'b2c-saas': 'Software for consumers',
  waitlist: 'A waiting list',
} as const

/** Options of {@link createIdpPlatformClient}. */
export interface IdpPlatformClientOptions {
  /** The Platform API access token of a workspace; not the secret key of an instance. */
  platformApiKey: string
  /** @default 'https://api.clerk.com/v1' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Time limit of one method call with all its attempts, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /** Waits between two attempts. A test passes a function that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
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

/** The applications of a workspace. Every method throws an `IntegrationError`. */
export interface IdpPlatformClient {
  /**
   * Creates an application with an instance for each environment, and returns their keys.
   *
   * @throws `outcome_unknown` if the application may have been created: look for it before you try again
   */
  createApplication(application: NewApplication, options?: CallOptions): Promise<Application>
  getApplication(applicationId: string, options?: ReadOptions): Promise<Application>
  /** Lists all applications: this endpoint has no pages. */
  listApplications(options?: ReadOptions): Promise<Application[]>
  /** Renames an application. Renaming twice is harmless, so the call is retried. */
  renameApplication(applicationId: string, name: string, options?: CallOptions): Promise<void>
  /** @throws `provider_rejected` with `provider.status` 404 if it is already gone, for example after a retry */
  deleteApplication(applicationId: string, options?: CallOptions): Promise<void>
}

/** The provider lists all applications in one response, of about 300 bytes each. */
const LONGEST_LIST = { maxBytes: 64 * 1024 * 1024, maxValues: Number.POSITIVE_INFINITY }

/**
 * Makes a client for the applications of a workspace.
 *
 * @example
 * ```ts
 * const platform = createIdpPlatformClient({ platformApiKey })
 * const { applicationId, instances } = await platform.createApplication({ name: 'Shop' })
 * ```
 */
export function createIdpPlatformClient(options: IdpPlatformClientOptions): IdpPlatformClient {
  const { baseUrl = DEFAULT_BASE_URL, platformApiKey, ...connection } = options
  const provider = createProviderClient(idpPlatformProvider, {
    ...connection,
    baseUrl,
    credential: platformApiKey,
    headers: { authorization: `Bearer ${platformApiKey}` },
  })

  async function call<Schema extends z.ZodType>(
    request: ProviderRequest,
    schema: Schema,
    callOptions: CallOptions = {},
  ): Promise<z.output<Schema>> {
    return (await provider.call(request, (body) => schema.safeParse(body).data, callOptions)).value
  }

  return {
    createApplication: ({ name, environmentTypes, domain, template }, options) =>
      call(
        {
          method: 'POST',
          path: '/platform/applications',
          json: { name, environment_types: environmentTypes, domain, template },
          change: 'the application was created',
        },
        wireApplication,
        options,
      ),

    getApplication: async (applicationId, options) =>
      call({ method: 'GET', path: pathOf(applicationId), query: toQuery(options) }, wireApplication, options),

    listApplications: (options) =>
      call(
        { method: 'GET', path: '/platform/applications', query: toQuery(options), ...LONGEST_LIST },
        z.array(wireApplication),
        options,
      ),

    async renameApplication(applicationId, name, options) {
      const request = { method: 'PATCH', path: pathOf(applicationId), json: { name } } as const
      await call(request, wireApplication, options)
    },

    async deleteApplication(applicationId, options) {
      // Deleting twice does no harm, so the call is retried, and its failures are retryable.
      await call({ method: 'DELETE', path: pathOf(applicationId) }, wireDeleted, options)
    },
  }
}

function toQuery({ includeSecretKeys }: ReadOptions = {}) {
  return { include_secret_keys: includeSecretKeys }
}

function pathOf(applicationId: string): string {
  // Such an id would name the list of applications, or its parent, or no path at all.
  if (/^\.{0,2}$/.test(applicationId) || !applicationId.isWellFormed()) {
    throw new IntegrationError('invalid_arguments', `“${applicationId}” is not the id of an application.`)
  }
  return `/platform/applications/${encodeURIComponent(applicationId)}`
}
