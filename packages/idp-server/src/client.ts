/**
 * The client of the Platform API: the only file that knows its URLs and headers.
 *
 * @see https://clerk.com/docs/reference/platform-api
 * @module
 */
import { IntegrationError } from '@org/core/errors'
import { createHttpClient, type HttpRequest } from '@org/core/http'
import type { Environment } from '@org/idp'
import * as z from 'zod'
import { callError, missingToken, notUnderstood } from './errors.ts'
import { type Application, wireApplication, wireDeleted } from './wire.ts'

/** The provider's API. */
const DEFAULT_BASE_URL = 'https://api.clerk.com/v1'

/** The templates that preconfigure an application. */
export const templates = ['b2b-saas', 'b2c-saas', 'waitlist'] as const

/** Options of {@link createIdpPlatformClient}. */
export interface IdpPlatformClientOptions {
  /** The Platform API access token of a workspace; not the secret key of an instance. */
  platformApiKey: string
  /** @default 'https://api.clerk.com/v1' */
  baseUrl?: string | undefined
  /** @default globalThis.fetch */
  fetch?: typeof fetch | undefined
  /**
   * Longest time for one call of a method with everything under it, in milliseconds.
   * @default 30_000
   */
  timeoutMs?: number | undefined
  /** Waits between two tries; tests pass one that does not. */
  wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** What every method takes beside its input. */
export interface CallOptions {
  /** Ends the call at once. */
  signal?: AbortSignal | undefined
  /**
   * Longest time for this call, in milliseconds.
   * @default the client's `timeoutMs`
   */
  timeoutMs?: number | undefined
}

/** An application to create. */
export interface NewApplication {
  name: string
  /** @default ['development'] */
  environmentTypes?: readonly Environment[] | undefined
  /** For a production instance. */
  domain?: string | undefined
  template?: (typeof templates)[number] | undefined
}

/** Whether answers hold the instances' secret keys. */
export interface ReadOptions extends CallOptions {
  /** @default false */
  includeSecretKeys?: boolean | undefined
}

/** The applications of a workspace. Every method throws an `IntegrationError`. */
export interface IdpPlatformClient {
  /**
   * Creates an application with an instance for each environment; the answer holds their keys.
   *
   * @throws `outcome_unknown` where it may have been created: look it up before trying again
   */
  createApplication(application: NewApplication, options?: CallOptions): Promise<Application>
  getApplication(applicationId: string, options?: ReadOptions): Promise<Application>
  /** All of them: the provider has no pages here. */
  listApplications(options?: ReadOptions): Promise<Application[]>
  /** @throws `provider_rejected` with `provider.status` 404 where it is gone already, also by an earlier try */
  deleteApplication(applicationId: string, options?: CallOptions): Promise<void>
}

/** The provider lists all applications in one answer. */
const MAX_LIST_BYTES = 10 * 1024 * 1024

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
  const { baseUrl = DEFAULT_BASE_URL, platformApiKey, timeoutMs = 30_000 } = options
  const connection = {
    baseUrl,
    headers: { authorization: `Bearer ${platformApiKey}` },
    fetch: options.fetch,
    wait: options.wait,
  }
  const readHttp = createHttpClient(connection)
  // A create that timed out is not sent again, so one try may take all the time that there is.
  const createHttp = createHttpClient({ ...connection, timeoutMs: Number.POSITIVE_INFINITY })

  async function call<Schema extends z.ZodType>(
    request: HttpRequest,
    schema: Schema,
    { signal, timeoutMs: limit = timeoutMs }: CallOptions = {},
    effect?: string,
  ): Promise<z.output<Schema>> {
    // No header can hold such a token, and a failure to send would look like a broken connection.
    if (!/^[!-~]+$/.test(platformApiKey.trim())) throw missingToken()
    const http = effect === undefined ? readHttp : createHttp
    const answer = await http({
      ...request,
      repeatable: effect === undefined,
      signal,
      deadline: Date.now() + limit,
      maxBytes: MAX_LIST_BYTES,
    }).catch((error: unknown) => {
      throw callError(error, effect)
    })
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw notUnderstood(answer.status, effect)
    return parsed.data
  }

  return {
    createApplication: ({ name, environmentTypes, domain, template }, options) =>
      call(
        {
          method: 'POST',
          path: '/platform/applications',
          json: { name, environment_types: environmentTypes, domain, template },
        },
        wireApplication,
        options,
        'the application was created',
      ),

    getApplication: async (applicationId, { includeSecretKeys, ...options } = {}) =>
      call(
        { method: 'GET', path: pathOf(applicationId), query: { include_secret_keys: includeSecretKeys } },
        wireApplication,
        options,
      ),

    listApplications: ({ includeSecretKeys, ...options } = {}) =>
      call(
        { method: 'GET', path: '/platform/applications', query: { include_secret_keys: includeSecretKeys } },
        z.array(wireApplication),
        options,
      ),

    async deleteApplication(applicationId, options) {
      // Deleting twice does no harm, so it is repeated, and its failures are retryable.
      await call({ method: 'DELETE', path: pathOf(applicationId) }, wireDeleted, options)
    },
  }
}

function pathOf(applicationId: string): string {
  // These would name the list, or what is above it.
  if (/^\.{0,2}$/.test(applicationId)) {
    throw new IntegrationError('invalid_arguments', `“${applicationId}” is not the id of an application.`)
  }
  return `/platform/applications/${encodeURIComponent(applicationId)}`
}
