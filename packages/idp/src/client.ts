/**
 * The client of one instance: the only file that knows the Backend API's URLs and headers.
 *
 * @see https://clerk.com/docs/reference/backend-api
 * @module
 */
import { createHttpClient, type HttpRequest } from '@org/core/http'
import * as z from 'zod'
import { callError, halfDone, invalidArgument, missingKey, notUnderstood } from './errors.ts'
import type {
  NewOrganization,
  NewUser,
  Organization,
  OrganizationListOptions,
  User,
  UserChanges,
  UserFilter,
  UserListOptions,
} from './schema.ts'
import {
  toFilterQuery,
  toOrganizationQuery,
  toUserQuery,
  toWireChanges,
  toWireMetadata,
  toWireOrganization,
  toWireUser,
  wireDeleted,
  wireDomains,
  wireInstance,
  wireOrganization,
  wireOrganizations,
  wireTotal,
  wireUser,
} from './wire.ts'

/** The provider's API. */
const DEFAULT_BASE_URL = 'https://api.clerk.com/v1'
const API_VERSION = '2026-05-12'
const DEFAULT_PAGE = 10
const LARGEST_PAGE = 500
/** A full page of users, each with three kinds of metadata of 8 KB. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** Options of {@link createIdpClient}. */
export interface IdpClientOptions {
  /** The secret key of the instance, `sk_test_…` or `sk_live_…`. */
  secretKey: string
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

/**
 * The users and organizations of one instance. Every method throws an `IntegrationError`; where its signal
 * ended it before anything was changed, the signal's reason.
 */
export interface IdpClient {
  /**
   * Creates a user.
   *
   * @throws `provider_rejected`, for example where the address is taken; `outcome_unknown` where the user may
   * have been created
   * @see https://clerk.com/docs/reference/backend-api/tag/users/post/users
   */
  createUser(user: NewUser, options?: CallOptions): Promise<User>
  /** @see https://clerk.com/docs/reference/backend-api/tag/users/get/users/%7Buser_id%7D */
  getUser(userId: string, options?: CallOptions): Promise<User>
  /**
   * One page, with the number of all. `nextCursor` is the `startingAfter` of the next page; `null` on the last
   * one, and for orders other than by `created_at`.
   *
   * @see https://clerk.com/docs/reference/backend-api/tag/users/get/users
   */
  listUsers(
    list?: UserListOptions,
    options?: CallOptions,
  ): Promise<{ data: User[]; totalCount: number; nextCursor: string | null }>
  /**
   * All users, newest first, page by page with a cursor: one call for each 500, none missed or seen twice
   * while others are added. The time limit is that of each page.
   */
  iterateUsers(filter?: UserFilter, options?: CallOptions): AsyncIterableIterator<User>
  /**
   * Changes a user. Metadata is merged, everything else is replaced. Both together are two calls, the metadata
   * last; where that one fails, the error says that the rest was changed.
   *
   * @see https://clerk.com/docs/reference/backend-api/tag/users/patch/users/%7Buser_id%7D
   * @see https://clerk.com/docs/reference/backend-api/tag/users/patch/users/%7Buser_id%7D/metadata
   */
  updateUser(userId: string, changes: UserChanges, options?: CallOptions): Promise<User>
  /** @see https://clerk.com/docs/reference/backend-api/tag/users/delete/users/%7Buser_id%7D */
  deleteUser(userId: string, options?: CallOptions): Promise<{ id: string; deleted: true }>
  /** @see https://clerk.com/docs/reference/backend-api/tag/users/get/users/count */
  countUsers(filter?: UserFilter, options?: CallOptions): Promise<number>
  /** @see https://clerk.com/docs/reference/backend-api/tag/organizations/post/organizations */
  createOrganization(organization: NewOrganization, options?: CallOptions): Promise<Organization>
  /**
   * One page, with the number of all.
   *
   * @see https://clerk.com/docs/reference/backend-api/tag/organizations/get/organizations
   */
  listOrganizations(
    list?: OrganizationListOptions,
    options?: CallOptions,
  ): Promise<{ data: Organization[]; totalCount: number }>
  /** The instance that the secret key belongs to; the cheapest way to see whether the key is accepted. */
  getInstance(options?: CallOptions): Promise<{ id: string; environmentType: string }>
  /** The domains of the instance, each with the URL of its frontend API. */
  listDomains(options?: CallOptions): Promise<{ name: string | null; frontendApiUrl: string | null }[]>
}

/**
 * Makes a client for one instance. Reads are repeated where that helps, changes only where they certainly did
 * not happen, and both honour `Retry-After`.
 *
 * @example
 * ```ts
 * const idp = createIdpClient({ secretKey })
 * for await (const user of idp.iterateUsers({ banned: false })) console.log(user.id)
 * ```
 */
export function createIdpClient(options: IdpClientOptions): IdpClient {
  const { baseUrl = DEFAULT_BASE_URL, secretKey = '', timeoutMs = 30_000 } = options
  const connection = {
    baseUrl,
    headers: { authorization: `Bearer ${secretKey}`, 'clerk-api-version': API_VERSION },
    fetch: options.fetch,
    wait: options.wait,
  }
  const read = createHttpClient(connection)
  // A change that timed out is not made again, so one try may take all the time that there is.
  const change = createHttpClient({ ...connection, timeoutMs: Number.POSITIVE_INFINITY })

  const deadlineOf = (options: CallOptions = {}) => Date.now() + (options.timeoutMs ?? timeoutMs)

  async function call<Schema extends z.ZodType>(
    request: HttpRequest,
    schema: Schema,
    options: CallOptions = {},
    deadline = deadlineOf(options),
  ): Promise<z.output<Schema>> {
    // Not when the client is made: a module that makes one must also load where there is no key.
    if (!/^[!-~]+$/.test(secretKey)) throw missingKey()
    const effect = request.method !== 'GET'
    const http = effect ? change : read
    const answer = await http({
      ...request,
      repeatable: !effect,
      signal: options.signal,
      deadline,
      maxBytes: MAX_ANSWER_BYTES,
    }).catch((error: unknown) => {
      throw callError(error, effect)
    })
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw notUnderstood(answer.status, effect)
    return parsed.data
  }

  const client: IdpClient = {
    async createUser(user, options) {
      return call({ method: 'POST', path: '/users', json: toWireUser(user) }, wireUser, options)
    },

    async getUser(userId, options) {
      return call({ method: 'GET', path: userPath(userId) }, wireUser, options)
    },

    async listUsers(list = {}, options) {
      checkFilter(list)
      const [data, totalCount] = await Promise.all([
        call({ method: 'GET', path: '/users', query: toUserQuery(list) }, z.array(wireUser), options),
        client.countUsers(list, options),
      ])
      const isFull = data.length === (list.limit ?? DEFAULT_PAGE)
      const last = isFull && hasCursor(list.orderBy) ? data.at(-1) : undefined
      return { data, totalCount, nextCursor: last?.id ?? null }
    },

    async *iterateUsers(filter = {}, options) {
      checkFilter(filter)
      let startingAfter: string | undefined
      for (;;) {
        const query = { ...toFilterQuery(filter), limit: LARGEST_PAGE, starting_after: startingAfter }
        const page = await call({ method: 'GET', path: '/users', query }, z.array(wireUser), options)
        yield* page
        startingAfter = page.at(-1)?.id
        if (page.length < LARGEST_PAGE) return
      }
    },

    async updateUser(userId, changes, options) {
      const path = userPath(userId)
      const deadline = deadlineOf(options)
      const patch = (path: string, json: object) =>
        call({ method: 'PATCH', path, json }, wireUser, options, deadline)
      const fields = toWireChanges(changes)
      const metadata = toWireMetadata(changes)
      // The provider merges metadata at a path of its own, and refuses it everywhere else.
      if (isEmpty(metadata)) return patch(path, fields)
      if (isEmpty(fields)) return patch(`${path}/metadata`, metadata)
      // The fields first: they are what the provider may refuse.
      await patch(path, fields)
      return patch(`${path}/metadata`, metadata).catch((error: unknown) => {
        throw halfDone(error)
      })
    },

    async deleteUser(userId, options) {
      await call({ method: 'DELETE', path: userPath(userId) }, wireDeleted, options)
      return { id: userId, deleted: true }
    },

    async countUsers(filter = {}, options) {
      checkFilter(filter)
      return call({ method: 'GET', path: '/users/count', query: toFilterQuery(filter) }, wireTotal, options)
    },

    async createOrganization(organization, options) {
      const json = toWireOrganization(organization)
      return call({ method: 'POST', path: '/organizations', json }, wireOrganization, options)
    },

    async listOrganizations(list = {}, options) {
      const query = toOrganizationQuery(list)
      return call({ method: 'GET', path: '/organizations', query }, wireOrganizations, options)
    },

    async getInstance(options) {
      return call({ method: 'GET', path: '/instance' }, wireInstance, options)
    },

    async listDomains(options) {
      return call({ method: 'GET', path: '/domains' }, wireDomains, options)
    },
  }
  return client
}

function userPath(userId: string): string {
  // Anything else could name another path: of the list, or above it.
  if (!/^[\w-]+$/.test(userId)) throw invalidArgument('userId', 'is not the id of a user')
  return `/users/${userId}`
}

function checkFilter({ emailAddress }: UserFilter): void {
  // On the wire an empty list is no filter at all, and would mean everyone.
  if (emailAddress?.length === 0)
    throw invalidArgument('emailAddress', 'is empty: leave it out to mean everyone')
}

function hasCursor(orderBy = '-created_at'): boolean {
  return /^[+-]?created_at$/.test(orderBy)
}

function isEmpty(body: object): boolean {
  return Object.values(body).every((value) => value === undefined)
}
