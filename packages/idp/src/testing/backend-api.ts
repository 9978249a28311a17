/**
 * An emulator of the provider's Backend API. It knows the endpoints, fields and parameters that the client
 * uses, in the provider's format, and refuses every other one, so that a test sees a mistake of the client.
 */
import { createEmulator, createFaults, type EmulatedRequest, type EmulatorCall } from '@org/core/emulators'
import { endpoints } from './endpoints.ts'
import { createInstance, type IdpInstance, type InstanceOptions } from './instance.ts'
import { asFault, Refusal, readBearer, reason, refusals, respond } from './refusals.ts'

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
export type BackendApi = ReturnType<typeof createBackendApi>

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
}: BackendApiOptions = {}) {
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
    return [...instances.values()].find((one) => one.secretKey === secretKey)
  }

  function handle(request: EmulatedRequest): Response {
    return respond(() => {
      const instance = findInstance(readBearer(request.headers) ?? '')
      if (!instance) throw new Refusal(401, reason('clerk_key_invalid', 'The secret key is invalid.'))
      if (request.headers.get('clerk-api-version') !== API_VERSION)
        throw new Refusal(400, reason('api_version_invalid', 'Invalid API version'))
      const { pathname, searchParams: query } = request.url
      const id = /^\/v1\/users\/(?!count$)([^/]+)/.exec(pathname)?.[1] ?? ''
      const endpoint = endpoints.get(`${request.method} ${id ? pathname.replace(id, '{id}') : pathname}`)
      if (!endpoint) throw refusals.unknownRoute()
      return endpoint({ instance, request, query, id, at: now().getTime() })
    })
  }

  const emulator = createEmulator({
    faults,
    handle,
    refusal: (status) => asFault(new Refusal(status, reason('refused', 'Refused'))).body,
    details: ({ headers }) => ({ instanceId: findInstance(readBearer(headers) ?? '')?.id }),
  })

  const calls: BackendApiCall[] = emulator.calls
  return {
    /** A `fetch` in process, and a handler for `serve`. Its paths begin with `/v1`. */
    fetch: emulator.fetch,
    faults,
    /** The newest 10,000 calls, including those that met a fault, newest last. */
    calls,
    /** The first instance. */
    instance,
    /** The users of the first instance. */
    users: instance.users,
    /** The organizations of the first instance. */
    organizations: instance.organizations,
    /** All instances, by id. */
    instances,
    addInstance,
    /** Deletes an instance, and so revokes its secret key. */
    removeInstance: (id: string) => void instances.delete(id),
    /** @returns the instance of a secret key; `undefined` for an unknown key */
    findInstance,
    /** Responds without faults, for an emulator that serves this API under its own `fetch`. */
    handle,
    /** Forgets all users, organizations, calls, faults and added instances. */
    reset(): void {
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
