/**
 * The provider's Backend API as an emulator, on its wire format exactly. It is stricter than the real one
 * about names and types of fields, so that a client's mistake is seen.
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
import { answer, refusals, withUndocumented } from './refusals.ts'
import { countUsers, listUsers } from './user-list.ts'
import { createUser, deleteUser, getUser, mergeMetadata, updateUser } from './users.ts'
import type { WireOrganization } from './wire-organization.ts'
import type { WireUser } from './wire-user.ts'

/** The version of the API that the emulator speaks: every request must name it. */
export const apiVersion = '2026-05-12'

/** Options of {@link createBackendApi}. */
export interface BackendApiOptions {
  /** @default one development instance */
  instances?: readonly [InstanceOptions, ...InstanceOptions[]] | undefined
  /** @default the system's clock */
  now?: (() => Date) | undefined
}

/** One call of the Backend API. */
export interface BackendApiCall extends EmulatorCall {
  /** Whose key was sent; `undefined` where it is nobody's. */
  instanceId: string | undefined
  /** What was sent as `Clerk-API-Version`. */
  apiVersion: string | undefined
}

/** A Backend API that lives in memory. */
export interface BackendApi {
  /** Works as a `fetch` in process, and as a handler for {@link serve}. Its paths begin with `/v1`. */
  fetch: typeof globalThis.fetch
  faults: Faults
  /** The newest 10,000 calls, those that met a fault included, newest last. */
  calls: BackendApiCall[]
  /** The first instance: the only one, where nothing else is asked. */
  instance: IdpInstance
  /** The users of the first instance. */
  users: Map<string, WireUser>
  /** The organizations of the first instance. */
  organizations: Map<string, WireOrganization>
  /** All instances, by id. */
  instances: ReadonlyMap<string, IdpInstance>
  addInstance(options?: InstanceOptions): IdpInstance
  /** Deletes an instance, with all that is in it. Its secret key is dead from then on. */
  removeInstance(id: string): void
  /** @returns the instance that a secret key opens; none where the key is revoked or unknown */
  findInstance(secretKey: string): IdpInstance | undefined
  /** Answers a request that no fault prevents, for an emulator that stands in front. */
  handle(request: EmulatedRequest): Response
  /** Forgets all users, organizations, calls, faults and added instances, and restores the first settings. */
  reset(): void
}

/** What a route acts on. */
interface Action {
  instance: IdpInstance
  request: EmulatedRequest
  /** The id in the path; empty where there is none. */
  id: string
  /** Unix milliseconds. */
  at: number
}

const routes: readonly [method: string, path: RegExp, act: (action: Action) => unknown][] = [
  ['GET', /^\/v1\/users$/, ({ instance, request }) => listUsers(instance, request.url.searchParams)],
  ['POST', /^\/v1\/users$/, ({ instance, request, at }) => createUser(instance, request, at)],
  ['GET', /^\/v1\/users\/count$/, ({ instance, request }) => countUsers(instance, request.url.searchParams)],
  ['GET', /^\/v1\/users\/([^/]+)$/, ({ instance, id }) => getUser(instance, id)],
  [
    'PATCH',
    /^\/v1\/users\/([^/]+)$/,
    ({ instance, id, request, at }) => updateUser(instance, id, request, at),
  ],
  ['DELETE', /^\/v1\/users\/([^/]+)$/, ({ instance, id }) => deleteUser(instance, id)],
  [
    'PATCH',
    /^\/v1\/users\/([^/]+)\/metadata$/,
    ({ instance, id, request, at }) => mergeMetadata(instance, id, request, at),
  ],
  ['GET', /^\/v1\/organizations$/, ({ instance, request }) => listOrganizations(instance, request)],
  ['POST', /^\/v1\/organizations$/, ({ instance, request }) => createOrganization(instance, request)],
  ['GET', /^\/v1\/instance$/, ({ instance }) => describeInstance(instance)],
  ['GET', /^\/v1\/domains$/, ({ instance }) => describeDomains(instance)],
]

/**
 * Makes a Backend API.
 *
 * @example
 * ```ts
 * const backend = createBackendApi()
 * backend.instance.createUsers(1_201)
 * backend.faults.add({ path: /^\/v1\/users/, ...rateLimited(7) })
 * const client = createIdp({ secretKey: backend.instance.secretKey, fetch: backend.fetch })
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
    return answer(() => {
      const token = readBearer(request.headers)
      if (token === undefined) throw refusals.noToken()
      const opened = findInstance(token)
      if (!opened) throw refusals.unknownSecretKey()
      checkVersion(request.headers)
      return act(opened, request)
    })
  }

  function act(opened: IdpInstance, request: EmulatedRequest): unknown {
    for (const [method, path, run] of routes) {
      const match = method === request.method ? path.exec(request.url.pathname) : null
      if (match) return run({ instance: opened, request, id: match[1] ?? '', at: now().getTime() })
    }
    throw refusals.noSuchRoute()
  }

  const { fetch, calls } = createEmulator({
    faults,
    handle,
    details: ({ headers }) => ({
      instanceId: findInstance(readBearer(headers) ?? '')?.id,
      apiVersion: headers.get('clerk-api-version') ?? undefined,
    }),
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

/** @returns the token of `Authorization: Bearer …`, where there is one */
export function readBearer(headers: Headers): string | undefined {
  return /^Bearer ([^\s]+)$/.exec(headers.get('authorization') ?? '')?.[1]
}

function checkVersion(headers: Headers): void {
  const version = headers.get('clerk-api-version')
  if (version === apiVersion) return
  const why = version === null ? 'the header Clerk-API-Version is missing' : `${version} is not supported`
  throw refusals.wrongVersion(why)
}

function describeInstance({ id, environmentType, workspaceId }: IdpInstance): object {
  return withUndocumented({
    object: 'instance',
    id,
    environment_type: environmentType,
    allowed_origins: null,
    workspace_id: workspaceId,
  })
}

function describeDomains({ domains }: IdpInstance): object {
  return { data: domains.map(withUndocumented), total_count: domains.length }
}
