/**
 * An emulator of the provider's Backend API. It knows the endpoints, fields and parameters that the client
 * uses, in the provider's format, and refuses every other one, so that a test sees a mistake of the client.
 *
 * @module
 */
import {
  createEmulator,
  createFaults,
  type EmulatedRequest,
  type EmulatorCall,
  type Faults,
} from '@org/core/testing'
import { createInstance, type IdpInstance, type InstanceOptions } from './instance.ts'
import { createOrganization, listOrganizations } from './organizations.ts'
import { refusals, respond, withUndocumented } from './refusals.ts'
import { countUsers, listUsers } from './user-list.ts'
import { createUser, deleteUser, getUser, mergeMetadata, updateUser } from './users.ts'
import type { WireOrganization } from './wire-organization.ts'
import type { WireUser } from './wire-user.ts'

/** The version of the API. Every request must name it. */
const API_VERSION = '2026-05-12'

/** Options of {@link createBackendApi}. */
export interface BackendApiOptions {
  /** @default one development instance */
  instances?: readonly [InstanceOptions, ...InstanceOptions[]] | undefined
  /** @default the system's clock */
  now?: (() => Date) | undefined
}

/** One call of the Backend API. */
export interface BackendApiCall extends EmulatorCall {
  /** The instance that the secret key belongs to; `undefined` for an unknown key. */
  instanceId: string | undefined
}

/** A Backend API in memory. */
export interface BackendApi {
  /** A `fetch` in process, and a handler for `serve`. Its paths begin with `/v1`. */
  fetch: typeof globalThis.fetch
  faults: Faults
  /** The newest 10,000 calls, including those that met a fault, newest last. */
  calls: BackendApiCall[]
  /** The first instance. */
  instance: IdpInstance
  /** The users of the first instance. */
  users: Map<string, WireUser>
  /** The organizations of the first instance. */
  organizations: Map<string, WireOrganization>
  /** All instances, by id. */
  instances: ReadonlyMap<string, IdpInstance>
  addInstance(options?: InstanceOptions): IdpInstance
  /** Deletes an instance, and so revokes its secret key. */
  removeInstance(id: string): void
  /** @returns the instance of a secret key; `undefined` for an unknown or revoked key */
  findInstance(secretKey: string): IdpInstance | undefined
  /** Responds without faults, for an emulator that serves this API under its own `fetch`. */
  handle(request: EmulatedRequest): Response
  /** Forgets all users, organizations, calls, faults and added instances, and restores the first settings. */
  reset(): void
}

/** A request to one endpoint. */
interface EndpointCall {
  instance: IdpInstance
  request: EmulatedRequest
  query: URLSearchParams
  /** The id in the path, or an empty text. */
  id: string
  /** Unix milliseconds. */
  at: number
}

const endpoints = new Map<string, (call: EndpointCall) => unknown>([
  ['GET /v1/users', ({ instance, query }) => listUsers(instance, query)],
  ['POST /v1/users', ({ instance, request, at }) => createUser(instance, request, at)],
  ['GET /v1/users/count', ({ instance, query }) => countUsers(instance, query)],
  ['GET /v1/users/{id}', ({ instance, id }) => getUser(instance, id)],
  ['PATCH /v1/users/{id}', ({ instance, id, request, at }) => updateUser(instance, id, request, at)],
  ['DELETE /v1/users/{id}', ({ instance, id }) => deleteUser(instance, id)],
  [
    'PATCH /v1/users/{id}/metadata',
    ({ instance, id, request, at }) => mergeMetadata(instance, id, request, at),
  ],
  ['GET /v1/organizations', ({ instance, query }) => listOrganizations(instance, query)],
  ['POST /v1/organizations', ({ instance, request }) => createOrganization(instance, request)],
  ['GET /v1/instance', ({ instance }) => describeInstance(instance)],
  ['GET /v1/domains', ({ instance }) => describeDomains(instance)],
])

/**
 * Makes a Backend API.
 *
 * @example
 * ```ts
 * const backend = createBackendApi()
 * backend.instance.createUsers(1_201)
 * backend.faults.add({ path: /^\/v1\/users/, ...rateLimited(7) })
 * const idp = createIdpClient({ secretKey: backend.instance.secretKey, fetch: backend.fetch })
 * ```
 */
export function createBackendApi({
  instances: [first, ...others] = [{}],
  now = () => new Date(),
}: BackendApiOptions = {}): BackendApi {
  const instances = new Map<string, IdpInstance>()
  const faults = createFaults()

  function addInstance(options: InstanceOptions = {}): IdpInstance {
    const instance = createInstance(options, now)
    instances.set(instance.id, instance)
    return instance
  }

  const instance = addInstance(first)
  const initial = [instance, ...others.map(addInstance)]

  function findInstance(secretKey: string): IdpInstance | undefined {
    return [...instances.values()].find(
      (one) => one.secretKey === secretKey && !one.settings.secretKeyRevoked,
    )
  }

  function handle(request: EmulatedRequest): Response {
    return respond(() => {
      const token = readBearer(request.headers)
      if (token === undefined) throw refusals.noToken()
      const found = findInstance(token)
      if (!found) throw refusals.unknownSecretKey()
      const version = request.headers.get('clerk-api-version')
      if (version !== API_VERSION) throw refusals.wrongVersion(version)
      return callEndpoint(found, request)
    })
  }

  function callEndpoint(instance: IdpInstance, request: EmulatedRequest): unknown {
    const { pathname, searchParams: query } = request.url
    const id = /^\/v1\/users\/(?!count$)([^/]+)/.exec(pathname)?.[1] ?? ''
    const path = id === '' ? pathname : pathname.replace(id, '{id}')
    const endpoint = endpoints.get(`${request.method} ${path}`)
    if (!endpoint) throw refusals.unknownRoute()
    return endpoint({ instance, request, query, id, at: now().getTime() })
  }

  const { fetch, calls } = createEmulator({
    faults,
    handle,
    details: ({ headers }) => ({ instanceId: findInstance(readBearer(headers) ?? '')?.id }),
  })

  return {
    fetch,
    faults,
    calls,
    instance,
    users: instance.users,
    organizations: instance.organizations,
    instances,
    addInstance,
    removeInstance: (id) => void instances.delete(id),
    findInstance,
    handle,
    reset() {
      instances.clear()
      for (const one of initial) {
        one.reset()
        instances.set(one.id, one)
      }
      faults.clear()
      calls.length = 0
    },
  }
}

/** Reads the token of `Authorization: Bearer …`. */
export function readBearer(headers: Headers): string | undefined {
  return /^Bearer ([^\s]+)$/.exec(headers.get('authorization') ?? '')?.[1]
}

function describeInstance({ id, environmentType }: IdpInstance): object {
  return withUndocumented({
    object: 'instance',
    id,
    environment_type: environmentType,
    allowed_origins: null,
  })
}

function describeDomains({ domains }: IdpInstance): object {
  return { data: domains.map(withUndocumented), total_count: domains.length }
}
