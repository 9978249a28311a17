/**
 * An emulator of the provider's Platform API, in its format. The same `fetch` serves the Backend API, which
 * accepts the secret keys of the applications.
 */

import { createEmulator, type EmulatedRequest, type StatusFault } from '@org/core/emulators'
import {
  asFault,
  type BackendApi,
  createBackendApi,
  type IdpInstance,
  newId,
  Refusal,
  readBearer,
  readBody,
  reason,
  refusals,
  respond,
  withUndocumented,
} from '@org/idp/testing'
import {
  describeApplication,
  describeDomain,
  describeDomainStatus,
  type EmulatedApplication,
  type NewApplication,
  newApplicationFields,
  renameFields,
} from './applications.ts'

/** The behaviour of the Platform API. A test may change it at any time. */
export interface PlatformApiSettings {
  /**
   * The valid access tokens.
   * @default ['ak_emulated']
   */
  accessTokens: readonly string[]
  /**
   * The workspace of each token; each has its own applications.
   * @default {}, which is one workspace for all tokens
   */
  workspaces: Readonly<Record<string, string>>
  /**
   * The response to a create contains the secret keys. The provider's schema makes them optional.
   * @default true
   */
  secretKeysOnCreate: boolean
  /**
   * Whether a DNS check finds the records of a domain; the first one is made with the domain.
   * @default true
   */
  dnsFound: boolean
}

/** A Platform API in memory. */
export type PlatformApi = ReturnType<typeof createPlatformApi>

/**
 * Makes a Platform API with first settings, and the Backend API of its instances, unless one is given. The first
 * instance belongs to no application.
 *
 * @example
 * ```ts
 * const provider = createPlatformApi()
 * provider.faults.add({ method: 'POST', path: '/v1/platform/applications', cut: 'after' })
 * const client = createIdpPlatformClient({ platformApiKey: 'ak_emulated', fetch: provider.fetch })
 * ```
 */
export function createPlatformApi({
  backend = createBackendApi(),
  ...overrides
}: Partial<PlatformApiSettings> & { backend?: BackendApi } = {}) {
  const first: PlatformApiSettings = {
    accessTokens: ['ak_emulated'],
    workspaces: {},
    secretKeysOnCreate: true,
    dnsFound: true,
    ...overrides,
  }
  const settings = { ...first }
  const applications = new Map<string, EmulatedApplication>()
  /** The domains whose records were found, by id. */
  const verified = new Set<string>()

  function addApplication(fields: NewApplication, workspace = ''): EmulatedApplication {
    const { name, template, environment_types: environments = ['development'] } = fields
    const domain = environments.includes('production') ? fields.domain?.toLowerCase() : undefined
    const instances = environments.map((environmentType) => makeInstance(environmentType, domain))
    const application = { applicationId: newId('app'), workspace, name, template, domain, instances }
    applications.set(application.applicationId, application)
    return application
  }

  function makeInstance(environmentType: IdpInstance['environmentType'], domain?: string): IdpInstance {
    const frontendHost = environmentType === 'production' && domain ? `clerk.${domain}` : undefined
    const instance = backend.addInstance({ environmentType, frontendHost })
    instance.domains.forEach(checkDns)
    return instance
  }

  function addInstance(applicationId: string, domain: string): IdpInstance {
    const instance = makeInstance('production', domain)
    applications.get(applicationId)?.instances.push(instance)
    return instance
  }

  function checkDns({ id }: { id: string }): void {
    if (settings.dnsFound) verified.add(id)
    else verified.delete(id)
  }

  function removeApplication(applicationId: string): void {
    for (const { id } of applications.get(applicationId)?.instances ?? []) backend.removeInstance(id)
    applications.delete(applicationId)
  }

  function find(applicationId: string, workspace: string): EmulatedApplication {
    const application = applications.get(applicationId)
    if (application?.workspace !== workspace)
      throw refusals.notFound(`No application was found with id ${applicationId}`)
    return application
  }

  function callEndpoint(request: EmulatedRequest): unknown {
    const token = readBearer(request.headers) ?? ''
    if (!settings.accessTokens.includes(token))
      throw new Refusal(401, reason('authentication_invalid', 'Invalid authentication'))
    const workspace = settings.workspaces[token] ?? ''
    const { pathname, searchParams } = request.url
    const withSecretKeys = searchParams.get('include_secret_keys') === 'true'
    const [id = '', section = '', domainId = '', action = ''] = pathname.replace(ROOT, '').split('/').slice(1)
    const path = [id && '{id}', section, domainId && '{domain}', action].filter(Boolean).join('/')
    switch (ROOT.test(pathname) && `${request.method} ${path}`) {
      case 'GET ':
        return [...applications.values()]
          .filter((one) => one.workspace === workspace)
          .map((one) => describeApplication(one, withSecretKeys))
      case 'POST ': {
        const application = addApplication(readBody(request, newApplicationFields), workspace)
        return describeApplication(application, settings.secretKeysOnCreate)
      }
      case 'GET {id}':
        return describeApplication(find(id, workspace), withSecretKeys)
      case 'PATCH {id}': {
        const application = find(id, workspace)
        application.name = readBody(request, renameFields).name
        return describeApplication(application, false)
      }
      case 'DELETE {id}':
        find(id, workspace)
        removeApplication(id)
        return withUndocumented({ deleted: true, object: 'deleted', id })
      case 'GET {id}/domains': {
        const domains = domainsOf(find(id, workspace))
        return { data: domains.map(describeDomain), total_count: domains.length }
      }
      case 'GET {id}/domains/{domain}/status':
      case 'POST {id}/domains/{domain}/dns_check': {
        const domain = domainsOf(find(id, workspace)).find((one) => one.id === domainId)
        if (!domain) throw refusals.notFound(`No domain was found with id ${domainId}`)
        if (request.method === 'POST') checkDns(domain)
        return describeDomainStatus(domain, verified.has(domain.id))
      }
      default:
        throw refusals.unknownRoute()
    }
  }

  const { fetch, calls } = createEmulator({
    faults: backend.faults,
    refusal: (status) => asFault(new Refusal(status, reason('refused', 'Refused'))).body,
    handle: (request) =>
      request.url.pathname.startsWith('/v1/platform/')
        ? respond(() => callEndpoint(request))
        : backend.handle(request),
    details: ({ headers }) => ({ instanceId: backend.findInstance(readBearer(headers) ?? '')?.id }),
  })

  return {
    /** Serves both APIs, in process and as a handler for `serve`: `/v1/platform/…`, and the Backend API below `/v1/…`. */
    fetch,
    /** The faults of both APIs. */
    faults: backend.faults,
    /** The newest 10,000 calls of this `fetch` to both APIs, newest last. */
    calls,
    backend,
    settings,
    /** By id, in the order of their creation. */
    applications,
    /** Creates an application, as `POST /platform/applications` does. */
    addApplication,
    /** Adds a production instance, as a person at the provider does. */
    addInstance,
    /** Deletes an application as a person at the provider does, and so revokes its secret keys. */
    removeApplication,
    /** Forgets applications, calls and faults, resets the Backend API, and restores the first settings. */
    reset(): void {
      applications.clear()
      verified.clear()
      calls.length = 0
      backend.reset()
      Object.assign(settings, first)
    },
  }
}

const ROOT = /^\/v1\/platform\/applications(?=\/|$)/

/** The domains of the production instance: others need no records. */
function domainsOf({ instances }: EmulatedApplication) {
  return instances.flatMap(({ environmentType, domains }) =>
    environmentType === 'production' ? domains : [],
  )
}

/**
 * Makes the fault of a workspace without the Platform API.
 *
 * @param status the documented refusal: not authorized (403), not in the plan (402), or not found (404)
 */
export function platformNotEnabled(status: 402 | 403 | 404 = 403): StatusFault {
  const error = {
    402: reason('unsupported_subscription_plan_features', 'Unsupported plan features'),
    403: reason('authorization_invalid', 'You are not authorized to perform this request'),
    404: reason('resource_not_found', 'URL not found'),
  }[status]
  return asFault(new Refusal(status, error))
}
