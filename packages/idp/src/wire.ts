/**
 * The provider's format: tolerant schemas that read its responses, and functions that build its requests.
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

/** A text. A blank one counts as absent. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || null)

/** A value that may be missing or null, with a default. */
const withDefault = <Schema extends z.ZodType, Default>(schema: Schema, fallback: Default) =>
  schema.nullish().transform((value) => value ?? fallback)

const metadata = withDefault(z.record(z.string(), z.unknown()), {})
const flag = withDefault(z.boolean(), false)

/** Unix milliseconds, up to the end of the year 9999: ISO 8601 has four digits for it. */
const time = z
  .number()
  .min(0)
  .max(Date.UTC(9999, 11, 31, 23, 59, 59, 999))
  .transform((milliseconds) => new Date(milliseconds).toISOString())
const optionalTime = withDefault(time, null)
const count = withDefault(z.int(), null)
const emailAddresses = withDefault(z.array(z.object({ id: text, email_address: z.string() })), [])
const phoneNumbers = withDefault(z.array(z.object({ id: text, phone_number: z.string() })), [])

/** A user, in the response of every endpoint. */
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
      emailAddress: primary(wire.email_addresses, wire.primary_email_address_id)?.email_address ?? null,
      emailAddresses: wire.email_addresses.map(({ email_address }) => email_address),
      phoneNumber: primary(wire.phone_numbers, wire.primary_phone_number_id)?.phone_number ?? null,
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

/** An organization, in the response of every endpoint. */
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

/** The body of an error response. Only the first error is used. */
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

/** The body of `PATCH /users/{id}`: everything except the metadata, which this endpoint refuses. */
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

function primary<Item extends { id: string | null }>(items: readonly Item[], id: string | null) {
  return id === null ? undefined : items.find((item) => item.id === id)
}

function toList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}
