/**
 * The provider's wire format, as far as it is used: read tolerantly, and turned into what callers see.
 *
 * @see https://clerk.com/docs/reference/backend-api
 * @module
 */
import * as z from 'zod'
import type { Organization, User } from './schema.ts'

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

const time = z.number().transform((milliseconds) => new Date(milliseconds).toISOString())
const optionalTime = time.nullish().transform((value) => value ?? null)
const count = z
  .int()
  .nullish()
  .transform((value) => value ?? null)

const emailAddress = z.object({ id: text, email_address: z.string() })
const phoneNumber = z.object({ id: text, phone_number: z.string() })

/** A user, as every endpoint shows it. */
export const wireUser = z
  .object({
    id: z.string(),
    primary_email_address_id: text,
    email_addresses: z.array(emailAddress).default([]),
    primary_phone_number_id: text,
    phone_numbers: z.array(phoneNumber).default([]),
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

/** The provider's body for a failure; the first error is the one that is told. */
export const wireErrors = z.object({
  errors: z
    .array(
      z.object({
        code: text,
        message: text,
        long_message: text,
        meta: z.object({ param_name: text }).nullish(),
      }),
    )
    .min(1),
})
