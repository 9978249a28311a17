/**
 * The client of one instance: the only file that knows the Backend API's URLs and headers.
 *
 * @see https://clerk.com/docs/reference/backend-api
 * @module
 */
import { createHttpClient, type HttpRequest } from '@org/core/http'
import * as z from 'zod'
import { callError, notUnderstood } from './errors.ts'
import type { Organization, User } from './schema.ts'
import {
  wireDomains,
  wireInstance,
  wireOrganization,
  wireOrganizations,
  wireTotal,
  wireUser,
} from './wire.ts'

/** The provider's API. */
export const DEFAULT_BASE_URL = 'https://api.clerk.com/v1'
const API_VERSION = '2026-05-12'
const DEFAULT_PAGE = 10
const LARGEST_PAGE = 500
/** 500 users with all their metadata. */
const MAX_PAGE_BYTES = 10 * 1024 * 1024

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

/** What can be changed of a user. */
export interface UserChanges {
  firstName?: string | undefined
  lastName?: string | undefined
  username?: string | undefined
  password?: string | undefined
  externalId?: string | undefined
  /** Accept a password that is known to have leaked. */
  skipPasswordChecks?: boolean | undefined
  /** Merged into what is there; `null` removes a key. */
  publicMetadata?: Record<string, unknown> | undefined
  /** Merged into what is there; `null` removes a key. */
  privateMetadata?: Record<string, unknown> | undefined
  /** Merged into what is there; `null` removes a key. */
  unsafeMetadata?: Record<string, unknown> | undefined
}

/** A user to create. */
export interface NewUser extends UserChanges {
  emailAddress?: string | readonly string[] | undefined
  phoneNumber?: string | readonly string[] | undefined
  /** Create the user without a password although the instance asks for one. */
  skipPasswordRequirement?: boolean | undefined
}

/** Which users are meant. */
export interface UserFilter {
  /** Occurs in an address, a name, a number or an id. */
  query?: string | undefined
  emailAddress?: string | readonly string[] | undefined
  banned?: boolean | undefined
}

/** Which users are listed, and in which order. */
export interface UserListOptions extends UserFilter {
  /** @default '-created_at' */
  orderBy?: string | undefined
  /**
   * From 1 to 500.
   * @default 10
   */
  limit?: number | undefined
  offset?: number | undefined
  /** The id of the last user of the page before. */
  startingAfter?: string | undefined
}

/** An organization to create. */
export interface NewOrganization {
  name: string
  slug?: string | undefined
  /** The id of the user who becomes its first administrator. */
  createdBy?: string | undefined
  maxAllowedMemberships?: number | undefined
  publicMetadata?: Record<string, unknown> | undefined
  privateMetadata?: Record<string, unknown> | undefined
}

/** Which organizations are listed, and in which order. */
export interface OrganizationListOptions {
  query?: string | undefined
  includeMembersCount?: boolean | undefined
  /** @default '-created_at' */
  orderBy?: string | undefined
  /**
   * From 1 to 500.
   * @default 10
   */
  limit?: number | undefined
  offset?: number | undefined
}

/** The users and organizations of one instance. Every method throws an `IntegrationError`. */
export interface IdpClient {
  createUser(user: NewUser, options?: CallOptions): Promise<User>
  getUser(userId: string, options?: CallOptions): Promise<User>
  /** One page, with the number of all. `nextCursor` is `null` on the last page, and for orders without a cursor. */
  listUsers(
    list?: UserListOptions,
    options?: CallOptions,
  ): Promise<{ data: User[]; totalCount: number; nextCursor: string | null }>
  /**
   * All users, page by page with a cursor: one call for each page of 500, none missed or seen twice while
   * others are added.
   */
  iterateUsers(filter?: UserFilter, options?: CallOptions): AsyncIterableIterator<User>
  /** Metadata is merged; everything else is replaced. */
  updateUser(userId: string, changes: UserChanges, options?: CallOptions): Promise<User>
  deleteUser(userId: string, options?: CallOptions): Promise<{ id: string; deleted: true }>
  countUsers(filter?: UserFilter, options?: CallOptions): Promise<number>
  createOrganization(organization: NewOrganization, options?: CallOptions): Promise<Organization>
  listOrganizations(
    list?: OrganizationListOptions,
    options?: CallOptions,
  ): Promise<{ data: Organization[]; totalCount: number }>
  /** The instance that the secret key belongs to; the cheapest way to see whether it is accepted. */
  getInstance(options?: CallOptions): Promise<{ id: string; environmentType: string }>
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
  const { baseUrl = DEFAULT_BASE_URL, secretKey, timeoutMs = 30_000 } = options
  const http = createHttpClient({
    baseUrl,
    headers: { authorization: `Bearer ${secretKey}`, 'clerk-api-version': API_VERSION },
    fetch: options.fetch,
    wait: options.wait,
  })

  async function call<Schema extends z.ZodType>(
    request: HttpRequest,
    schema: Schema,
    { signal, timeoutMs: limit = timeoutMs }: CallOptions = {},
  ): Promise<z.output<Schema>> {
    const effect = request.method !== 'GET'
    const answer = await http({
      ...request,
      repeatable: !effect,
      signal,
      deadline: Date.now() + limit,
      maxBytes: MAX_PAGE_BYTES,
    }).catch((error: unknown) => {
      throw callError(error, effect)
    })
    const parsed = schema.safeParse(answer.body)
    if (!parsed.success) throw notUnderstood(answer.status, effect)
    return parsed.data
  }

  const client: IdpClient = {
    createUser: (user, options) =>
      call({ method: 'POST', path: '/users', json: toWireUser(user) }, wireUser, options),

    getUser: (userId, options) => call({ method: 'GET', path: userPath(userId) }, wireUser, options),

    async listUsers(list = {}, options) {
      const [data, totalCount] = await Promise.all([
        call({ method: 'GET', path: '/users', query: toUserQuery(list) }, z.array(wireUser), options),
        client.countUsers(list, options),
      ])
      const full = data.length === (list.limit ?? DEFAULT_PAGE)
      const last = full && hasCursor(list.orderBy) ? data.at(-1) : undefined
      return { data, totalCount, nextCursor: last?.id ?? null }
    },

    async *iterateUsers(filter = {}, options) {
      let startingAfter: string | undefined
      for (;;) {
        const query = toUserQuery({ ...filter, limit: LARGEST_PAGE, startingAfter })
        const page = await call({ method: 'GET', path: '/users', query }, z.array(wireUser), options)
        yield* page
        startingAfter = page.at(-1)?.id
        if (page.length < LARGEST_PAGE) return
      }
    },

    async updateUser(userId, { publicMetadata, privateMetadata, unsafeMetadata, ...changes }, options) {
      const metadata = {
        public_metadata: publicMetadata,
        private_metadata: privateMetadata,
        unsafe_metadata: unsafeMetadata,
      }
      const changesMetadata = Object.values(metadata).some((value) => value !== undefined)
      const changesUser = Object.values(changes).some((value) => value !== undefined)
      // The provider merges metadata at a path of its own, and refuses it everywhere else.
      const updated =
        changesUser || !changesMetadata
          ? await call(
              { method: 'PATCH', path: userPath(userId), json: toWireChanges(changes) },
              wireUser,
              options,
            )
          : undefined
      if (updated && !changesMetadata) return updated
      return call(
        { method: 'PATCH', path: `${userPath(userId)}/metadata`, json: metadata },
        wireUser,
        options,
      )
    },

    async deleteUser(userId, options) {
      await call(
        { method: 'DELETE', path: userPath(userId) },
        z.object({ deleted: z.literal(true) }),
        options,
      )
      return { id: userId, deleted: true }
    },

    countUsers: (filter = {}, options) =>
      call({ method: 'GET', path: '/users/count', query: toFilterQuery(filter) }, wireTotal, options),

    createOrganization: (
      { name, slug, createdBy, maxAllowedMemberships, publicMetadata, privateMetadata },
      options,
    ) =>
      call(
        {
          method: 'POST',
          path: '/organizations',
          json: {
            name,
            slug,
            created_by: createdBy,
            max_allowed_memberships: maxAllowedMemberships,
            public_metadata: publicMetadata,
            private_metadata: privateMetadata,
          },
        },
        wireOrganization,
        options,
      ),

    listOrganizations: ({ limit, offset, query, includeMembersCount, orderBy } = {}, options) =>
      call(
        {
          method: 'GET',
          path: '/organizations',
          query: { limit, offset, query, include_members_count: includeMembersCount, order_by: orderBy },
        },
        wireOrganizations,
        options,
      ),

    getInstance: (options) => call({ method: 'GET', path: '/instance' }, wireInstance, options),

    listDomains: (options) => call({ method: 'GET', path: '/domains' }, wireDomains, options),
  }
  return client
}

function userPath(userId: string): string {
  return `/users/${encodeURIComponent(userId)}`
}

function hasCursor(orderBy = '-created_at'): boolean {
  return /^[+-]?created_at$/.test(orderBy)
}

function toFilterQuery({ query, emailAddress, banned }: UserFilter): HttpRequest['query'] {
  return { query, email_address: emailAddress, banned }
}

function toUserQuery({
  limit,
  offset,
  startingAfter,
  orderBy,
  ...filter
}: UserListOptions): HttpRequest['query'] {
  return { ...toFilterQuery(filter), limit, offset, starting_after: startingAfter, order_by: orderBy }
}

function toWireChanges(changes: UserChanges): Record<string, unknown> {
  return {
    first_name: changes.firstName,
    last_name: changes.lastName,
    username: changes.username,
    password: changes.password,
    external_id: changes.externalId,
    skip_password_checks: changes.skipPasswordChecks,
  }
}

function toWireUser(user: NewUser): Record<string, unknown> {
  return {
    ...toWireChanges(user),
    email_address: toList(user.emailAddress),
    phone_number: toList(user.phoneNumber),
    skip_password_requirement: user.skipPasswordRequirement,
    public_metadata: user.publicMetadata,
    private_metadata: user.privateMetadata,
    unsafe_metadata: user.unsafeMetadata,
  }
}

function toList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
