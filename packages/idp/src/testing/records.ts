/**
 * Users and organizations in the provider's format, and the fields of the requests that make and change them.
 * The emulator refuses every other field.
 */
import * as z from 'zod'
import { newId } from './random.ts'

const IMAGE_URL = 'https://img.idp.invalid/default'
const DEFAULT_MEMBERSHIPS = 5

const text = z.string().nullish()
const texts = z.array(z.string()).optional()
const flag = z.boolean().nullish()
const metadata = z.record(z.string(), z.unknown()).optional()
const metadataFields = { public_metadata: metadata, private_metadata: metadata, unsafe_metadata: metadata }
const changeable = {
  external_id: text,
  first_name: text,
  last_name: text,
  username: text,
  password: text,
  password_digest: text,
  password_hasher: z.string().optional(),
  created_at: z.iso.datetime().nullish(),
  skip_password_checks: flag,
  skip_legal_checks: flag,
}

/** The body of `POST /users`. */
export const newUserFields = z.strictObject({
  ...changeable,
  ...metadataFields,
  email_address: texts,
  phone_number: texts,
  skip_password_requirement: flag,
  banned: flag,
  locked: flag,
})
/** The fields of a new user. */
export type NewUser = z.output<typeof newUserFields>

/** The body of `PATCH /users/{id}`, which has no metadata since 2026-05-12. */
export const userChangeFields = z.strictObject(changeable)

/** The body of `PATCH /users/{id}/metadata`. */
export const userMetadataFields = z.strictObject(metadataFields)

/** The body of `POST /organizations`. */
export const newOrganizationFields = z.strictObject({
  name: z.string(),
  slug: z.string().optional(),
  created_by: z.string().optional(),
  max_allowed_memberships: z.int().min(0).optional(),
  public_metadata: metadata,
  private_metadata: metadata,
})
/** The fields of a new organization. */
export type NewOrganization = z.output<typeof newOrganizationFields>

/** Metadata: any JSON object. */
export type WireMetadata = Record<string, unknown>
/** A user. Times are Unix milliseconds. */
export type WireUser = ReturnType<typeof buildUser>
/** An organization, without the number of its members. Times are Unix milliseconds. */
export type WireOrganization = ReturnType<typeof buildOrganization>

/** The time of something that has not happened. */
const notYet = (): number | null => null
const orEmpty = (metadata: WireMetadata = {}) => metadata

/**
 * Makes a user from the fields of a create, without checks.
 *
 * @param at Unix milliseconds
 */
export function buildUser(fields: NewUser, at: number) {
  const { email_address = [], phone_number = [] } = fields
  const times = { created_at: at, updated_at: at }
  const identification = () => ({ id: newId('idn'), linked_to: [], reserved: false, ...times })
  const addresses = email_address.map((text) => ({
    object: 'email_address',
    ...identification(),
    email_address: text.toLowerCase(),
    verification: { status: 'verified' },
  }))
  const numbers = phone_number.map((text) => {
    return { object: 'phone_number', ...identification(), phone_number: text }
  })
  return {
    object: 'user',
    id: newId('user'),
    external_id: fields.external_id ?? null,
    primary_email_address_id: addresses[0]?.id ?? null,
    primary_phone_number_id: numbers[0]?.id ?? null,
    username: fields.username?.toLowerCase() || null,
    first_name: fields.first_name ?? null,
    last_name: fields.last_name ?? null,
    image_url: IMAGE_URL,
    public_metadata: orEmpty(fields.public_metadata),
    private_metadata: orEmpty(fields.private_metadata),
    unsafe_metadata: orEmpty(fields.unsafe_metadata),
    email_addresses: addresses,
    phone_numbers: numbers,
    password_enabled: Boolean(fields.password || fields.password_digest),
    last_sign_in_at: notYet(),
    last_active_at: notYet(),
    banned: fields.banned ?? false,
    locked: fields.locked ?? false,
    created_at: fields.created_at ? Date.parse(fields.created_at) : at,
    updated_at: at,
  }
}

/**
 * Makes an organization from the fields of a create, without checks.
 *
 * @param at Unix milliseconds
 */
export function buildOrganization(fields: NewOrganization & { slug: string }, at: number) {
  return {
    object: 'organization',
    id: newId('org'),
    name: fields.name,
    slug: fields.slug,
    image_url: IMAGE_URL,
    max_allowed_memberships: fields.max_allowed_memberships ?? DEFAULT_MEMBERSHIPS,
    public_metadata: orEmpty(fields.public_metadata),
    private_metadata: orEmpty(fields.private_metadata),
    created_by: fields.created_by,
    created_at: at,
    updated_at: at,
  }
}
