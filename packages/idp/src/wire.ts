/**
 * The provider's wire format, as far as it is used: answers are read tolerantly and turned into what callers
 * see, and what callers ask for is turned into the provider's names.
 *
 * @see https://clerk.com/docs/reference/backend-api
 * @module
 */
import * as z from 'zod'
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

/** A text that may be missing, null, or blank: all of them are absent. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || null)

const metadata = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((value) => value ?? {})

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)

/** Unix milliseconds, up to the last one that ISO 8601 writes with four digits of a year. */
const time = z
  .number()
  .min(0)
  .max(Date.UTC(9999, 11, 31, 23, 59, 59, 999))
  .transform((milliseconds) => new Date(milliseconds).toISOString())
const optionalTime = time.nullish().transform((value) => value ?? null)
const count = z
  .int()
  .nullish()
  .transform((value) => value ?? null)

const listOf = <Item extends z.ZodType>(item: Item) =>
  z
    .array(item)
    .nullish()
    .transform((items) => items ?? [])

const emailAddresses = listOf(z.object({ id: text, email_address: z.string() }))
const phoneNumbers = listOf(z.object({ id: text, phone_number: z.string() }))

/** A user, as every endpoint shows it. */
export const wireUser = z
  .object({
    id: z.string(),
    primary_email_address_id: text,
    email_addresses: emailAddresses,
    primary_phone_number_id: text,
    phone_numbers: phoneNumbers,
    username: text,
    first_name: text,
    last_name: text,
    external_id: text,
    image_url: text,
    banned: flag,
    locked: flag,
    public_metadata: metadata,
    private_metadata: metadata,
    unsafe_metadata: metadata,
    last_sign_in_at: optionalTime,
    created_at: time,
    updated_at: time,
  })
  .transform(
    (wire): User => ({
      id: wire.id,
      emailAddress:
        wire.email_addresses.find(({ id }) => id !== null && id === wire.primary_email_address_id)
          ?.email_address ?? null,
      emailAddresses: wire.email_addresses.map(({ email_address }) => email_address),
      phoneNumber:
        wire.phone_numbers.find(({ id }) => id !== null && id === wire.primary_phone_number_id)
          ?.phone_number ?? null,
      username: wire.username,
      firstName: wire.first_name,
      lastName: wire.last_name,
      externalId: wire.external_id,
      imageUrl: wire.image_url,
      banned: wire.banned,
      locked: wire.locked,
      publicMetadata: wire.public_metadata,
      privateMetadata: wire.private_metadata,
      unsafeMetadata: wire.unsafe_metadata,
      lastSignInAt: wire.last_sign_in_at,
      createdAt: wire.created_at,
      updatedAt: wire.updated_at,
    }),
  )

/** An organization, as every endpoint shows it. */
export const wireOrganization = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: text,
    image_url: text,
    members_count: count,
    max_allowed_memberships: count,
    public_metadata: metadata,
    private_metadata: metadata,
    created_by: text,
    created_at: time,
    updated_at: time,
  })
  .transform(
    (wire): Organization => ({
      id: wire.id,
      name: wire.name,
      slug: wire.slug,
      imageUrl: wire.image_url,
      membersCount: wire.members_count,
      maxAllowedMemberships: wire.max_allowed_memberships,
      publicMetadata: wire.public_metadata,
      privateMetadata: wire.private_metadata,
      createdBy: wire.created_by,
      createdAt: wire.created_at,
      updatedAt: wire.updated_at,
    }),
  )

/** `GET /organizations`. */
export const wireOrganizations = z
  .object({ data: z.array(wireOrganization), total_count: z.int() })
  .transform(({ data, total_count }) => ({ data, totalCount: total_count }))

/** `GET /users/count`. */
export const wireTotal = z.object({ total_count: z.int() }).transform(({ total_count }) => total_count)

/** `GET /instance`. */
export const wireInstance = z
  .object({ id: z.string(), environment_type: z.string() })
  .transform(({ id, environment_type }) => ({ id, environmentType: environment_type }))

/** `GET /domains`. */
export const wireDomains = z
  .object({ data: z.array(z.object({ name: text, frontend_api_url: text })) })
  .transform(({ data }) =>
    data.map(({ name, frontend_api_url }) => ({ name, frontendApiUrl: frontend_api_url })),
  )

/** `DELETE /users/{id}`. */
export const wireDeleted = z.object({ deleted: z.literal(true) })

/** The provider's body for a failure; the first error is the one that is told. */
export const wireErrors = z
  .object({ errors: z.tuple([z.object({ code: text, message: text, long_message: text })], z.unknown()) })
  .transform(({ errors: [{ code, message, long_message }] }) => ({
    code: code ?? undefined,
    message: long_message ?? message ?? undefined,
  }))

type Query = Record<string, string | number | boolean | readonly string[] | undefined>

/** The query of `GET /users/count`. */
export function toFilterQuery({ query, emailAddress, banned }: UserFilter): Query {
  return { query, email_address: emailAddress, banned }
}

/** The query of `GET /users`. */
export function toUserQuery({ limit, offset, startingAfter, orderBy, ...filter }: UserListOptions): Query {
  return { ...toFilterQuery(filter), limit, offset, starting_after: startingAfter, order_by: orderBy }
}

/** The query of `GET /organizations`. */
export function toOrganizationQuery(list: OrganizationListOptions): Query {
  const { limit, offset, query, includeMembersCount, orderBy } = list
  return { limit, offset, query, include_members_count: includeMembersCount, order_by: orderBy }
}

/** The body of `POST /users`. */
export function toWireUser(user: NewUser): object {
  return {
    ...toWireChanges(user),
    ...toWireMetadata(user),
    email_address: toList(user.emailAddress),
    phone_number: toList(user.phoneNumber),
    skip_password_requirement: user.skipPasswordRequirement,
  }
}

/** The body of `PATCH /users/{id}`: everything but the metadata, which it refuses. */
export function toWireChanges(changes: UserChanges): object {
  return {
    first_name: changes.firstName,
    last_name: changes.lastName,
    username: changes.username,
    password: changes.password,
    external_id: changes.externalId,
    skip_password_checks: changes.skipPasswordChecks,
  }
}

/** The body of `PATCH /users/{id}/metadata`, which merges. */
export function toWireMetadata({ publicMetadata, privateMetadata, unsafeMetadata }: UserChanges): object {
  return {
    public_metadata: publicMetadata,
    private_metadata: privateMetadata,
    unsafe_metadata: unsafeMetadata,
  }
}

/** The body of `POST /organizations`. */
export function toWireOrganization(organization: NewOrganization): object {
  return {
    name: organization.name,
    slug: organization.slug,
    created_by: organization.createdBy,
    max_allowed_memberships: organization.maxAllowedMemberships,
    public_metadata: organization.publicMetadata,
    private_metadata: organization.privateMetadata,
  }
}

function toList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
