/**
 * The client of the Backend API: the only file that knows its URLs and headers.
 *
 * @see https://clerk.com/docs/reference/backend-api
 */
import type { CallOptions } from '@org/core/http'
import * as z from 'zod'
import { type ConnectionOptions, connectApi } from './api.ts'
import { invalidArgument, metadataError, provider } from './errors.ts'
import {
  changeFields,
  filterFields,
  listFilterFields,
  metadataFields,
  type NewOrganization,
  type NewUser,
  type Organization,
  type OrganizationListOptions,
  organizationFields,
  type User,
  type UserChanges,
  type UserFilter,
  type UserListOptions,
} from './schema.ts'
import {
  toFilterQuery,
  toOrganizationQuery,
  toUserQuery,
  toWire,
  toWireUser,
  wireDeleted,
  wireDomains,
  wireInstance,
  wireOrganization,
  wireOrganizations,
  wireTotal,
  wireUser,
} from './wire.ts'

const API_VERSION = '2026-05-12'
const DEFAULT_PAGE = 10
const MAX_PAGE = 500
/** Room for a full page of users, each with three kinds of metadata of 8 KB. */
const LONGEST_PAGE = { maxBytes: 16 * 1024 * 1024, maxValues: 150_000 }

/** Options of {@link createIdpClient}. */
export interface IdpClientOptions extends ConnectionOptions {
  /** The secret key of the instance, `sk_test_…` or `sk_live_…`. */
  secretKey: string
}

/**
 * Makes a client for the users and organizations of one instance. It retries reads, and retries a change only if it
 * certainly did not happen. It honours `Retry-After`. Every method throws an `IntegrationError`, or the reason of its
 * signal if that ended the call before a change was possible.
 *
 * @example
 * ```ts
 * const idp = createIdpClient({ secretKey })
 * for await (const user of idp.iterateUsers({ banned: false })) console.log(user.id)
 * ```
 */
export function createIdpClient(options: IdpClientOptions) {
  const { secretKey, ...connection } = options
  const api = connectApi(provider, {
    ...connection,
    credential: secretKey,
    headers: { 'clerk-api-version': API_VERSION },
  })
  const call: typeof api.call = async (request, schema, options) => {
    const change = request.method === 'GET' ? undefined : 'the change was made'
    return api.call({ ...LONGEST_PAGE, ...request, change }, schema, options)
  }

  const client = {
    /**
     * Creates a user.
     *
     * @throws `provider_rejected`, for example for a taken address; `outcome_unknown` if the user may have been
     * created
     * @see https://clerk.com/docs/reference/backend-api/tag/users/post/users
     */
    async createUser(user: NewUser, options?: CallOptions): Promise<User> {
      return call({ method: 'POST', path: '/users', json: toWireUser(user) }, wireUser, options)
    },

    async getUser(userId: string, options?: CallOptions): Promise<User> {
      return call({ method: 'GET', path: userPath(userId) }, wireUser, options)
    },

    /**
     * Lists one page of users, with the total count. `nextCursor` is the `startingAfter` of the next page, and
     * `null` on the last page and for orders other than by `createdAt`.
     *
     * It asks for one user more than `limit`, and so sees whether another page follows. A page of 500, the provider's
     * maximum, always has a cursor behind `startingAfter`, and an empty page may follow.
     *
     * @see https://clerk.com/docs/reference/backend-api/tag/users/get/users
     */
    async listUsers(
      list: UserListOptions = {},
      options?: CallOptions,
    ): Promise<{ data: User[]; totalCount: number; nextCursor: string | null }> {
      checkFilter(list)
      const until = api.within(options)
      const { limit = DEFAULT_PAGE, offset = 0, startingAfter, orderBy } = list
      // An invalid limit is sent as it is: the provider refuses it.
      const wanted = hasCursor(orderBy) && limit > 0 && limit < MAX_PAGE ? limit + 1 : limit
      const query = toUserQuery({ ...list, limit: wanted })
      const [found, totalCount] = await Promise.all([
        call({ method: 'GET', path: '/users', query }, z.array(wireUser), until),
        client.countUsers(list, until),
      ])
      const data = found.slice(0, limit)
      const mayFollow =
        wanted > limit
          ? found.length > limit
          : found.length === limit && (startingAfter !== undefined || offset + limit < totalCount)
      const last = mayFollow && hasCursor(orderBy) ? data.at(-1) : undefined
      return { data, totalCount, nextCursor: last?.id ?? null }
    },

    /**
     * Iterates over all users, newest first: one call for each 500, with a cursor, so that users who are added
     * meanwhile neither hide nor repeat others. The time limit applies to each page.
     */
    async *iterateUsers(filter: UserFilter = {}, options?: CallOptions): AsyncIterableIterator<User> {
      checkFilter(filter)
      let startingAfter: string | undefined
      for (;;) {
        const query = { ...toFilterQuery(filter), limit: MAX_PAGE, starting_after: startingAfter }
        const page = await call({ method: 'GET', path: '/users', query }, z.array(wireUser), options)
        yield* page
        startingAfter = page.at(-1)?.id
        if (page.length < MAX_PAGE) return
      }
    },

    /**
     * Changes a user. Metadata is merged, other fields are replaced. An update of both takes two calls, the
     * metadata last. If the second call fails, the error says that the fields were changed. Without any change, it
     * only reads the user.
     *
     * @see https://clerk.com/docs/reference/backend-api/tag/users/patch/users/%7Buser_id%7D
     * @see https://clerk.com/docs/reference/backend-api/tag/users/patch/users/%7Buser_id%7D/metadata
     */
    async updateUser(userId: string, changes: UserChanges, options?: CallOptions): Promise<User> {
      const path = userPath(userId)
      const until = api.within(options)
      const patch = (path: string, json: object) => call({ method: 'PATCH', path, json }, wireUser, until)
      const fields = toWire(changes, changeFields)
      const metadata = toWire(changes, metadataFields)
      if (isEmpty(fields) && isEmpty(metadata)) return client.getUser(userId, until)
      // The provider accepts metadata only at its own endpoint, where it merges.
      if (isEmpty(metadata)) return patch(path, fields)
      if (isEmpty(fields)) return patch(`${path}/metadata`, metadata)
      // The fields first: the provider is more likely to refuse them.
      await patch(path, fields)
      return patch(`${path}/metadata`, metadata).catch((error: unknown) => {
        throw metadataError(error)
      })
    },

    async deleteUser(userId: string, options?: CallOptions): Promise<{ id: string; deleted: true }> {
      await call({ method: 'DELETE', path: userPath(userId) }, wireDeleted, options)
      return { id: userId, deleted: true }
    },

    async countUsers(filter: UserFilter = {}, options?: CallOptions): Promise<number> {
      checkFilter(filter)
      const query = toWire(filter, filterFields)
      return call({ method: 'GET', path: '/users/count', query }, wireTotal, options)
    },

    async createOrganization(organization: NewOrganization, options?: CallOptions): Promise<Organization> {
      const json = toWire(organization, organizationFields)
      return call({ method: 'POST', path: '/organizations', json }, wireOrganization, options)
    },

    /**
     * Lists one page of organizations, with the total count.
     *
     * @see https://clerk.com/docs/reference/backend-api/tag/organizations/get/organizations
     */
    async listOrganizations(
      list: OrganizationListOptions = {},
      options?: CallOptions,
    ): Promise<{ data: Organization[]; totalCount: number }> {
      const query = toOrganizationQuery(list)
      return call({ method: 'GET', path: '/organizations', query }, wireOrganizations, options)
    },

    /** Gets the instance of the secret key: the cheapest way to check the key. */
    async getInstance(options?: CallOptions): Promise<{ id: string; environmentType: string }> {
      return call({ method: 'GET', path: '/instance' }, wireInstance, options)
    },

    /** Lists the domains of the instance, each with the URL of its frontend API. */
    async listDomains(
      options?: CallOptions,
    ): Promise<{ name: string | null; frontendApiUrl: string | null }[]> {
      return call({ method: 'GET', path: '/domains' }, wireDomains, options)
    },
  }
  return client
}

/** The users and organizations of one instance. */
export type IdpClient = ReturnType<typeof createIdpClient>

function userPath(userId: string): string {
  // Another text could name another path, for example that of the list.
  if (!/^[\w-]+$/.test(userId)) throw invalidArgument('userId', 'is not the id of a user')
  return `/users/${userId}`
}

function checkFilter(filter: UserFilter): void {
  const values: Readonly<Record<string, unknown>> = filter
  for (const name of Object.keys(listFilterFields)) {
    const value = values[name]
    // It would add no parameter, and select everyone.
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
    if (isEmpty) throw invalidArgument(name, 'is empty: leave it out to select everyone')
  }
}

function hasCursor(orderBy = '-createdAt'): boolean {
  return /^-?createdAt$/.test(orderBy)
}

function isEmpty(body: object): boolean {
  return Object.values(body).every((value) => value === undefined)
}
