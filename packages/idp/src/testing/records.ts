/**
 * Users and organizations in the provider's format, and the fields of the requests that make and change them.
 * The emulator refuses every other field.
 */
import * as z from 'zod'

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

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Makes a text of random letters and digits. */
export function randomText(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length))
  return Array.from(bytes, (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
}

/** Makes an id in the provider's form: the prefix, `_`, and 27 letters and digits, which sort by time. */
export function newId(prefix: string): string {
  return `${prefix}_2${Date.now().toString(36)}${randomText(18)}`
}

/** The time of something that has not happened. */
const notYet = (): number | null => null
const orEmpty = (metadata: WireMetadata = {}) => metadata

/**
 * Makes a user from the fields of a create, without checks.
 *
 * @param at Unix milliseconds
 */
export function buildUser(fields: NewUser, at: number) {
  const addresses = (fields.email_address ?? []).map((text) => {
    return { id: newId('idn'), email_address: text.toLowerCase(), verification: { status: 'verified' } }
  })
  const numbers = (fields.phone_number ?? []).map((text) => ({ id: newId('idn'), phone_number: text }))
  return {
    object: 'user',
    id: newId('user'),
    external_id: fields.external_id ?? null,
    primary_email_address_id: addresses[0]?.id ?? null,
    primary_phone_number_id: numbers[0]?.id ?? null,
    username: fields.username?.toLowerCase() || null,
    first_name: fields.first_name ?? null,
    last_name: fields.last_name ?? null,
    image_url: 'https://img.idp.invalid/default',
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
    image_url: 'https://img.idp.invalid/default',
    max_allowed_memberships: fields.max_allowed_memberships ?? 5,
    public_metadata: orEmpty(fields.public_metadata),
    private_metadata: orEmpty(fields.private_metadata),
    created_by: fields.created_by,
    created_at: at,
    updated_at: at,
  }
}
