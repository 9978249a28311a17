/**
 * The bodies of the writing user endpoints, as documented: every other field is refused.
 *
 * @module
 */
import * as z from 'zod'

const text = z.string().nullable().optional()
const texts = z.array(z.string()).optional()
const flag = z.boolean().nullable().optional()
const count = z.int().nullable().optional()
const time = z.iso.datetime({ offset: true }).nullable().optional()
const statuses = z.array(z.enum(['verified', 'reserved'])).optional()

/** Metadata: any JSON object. */
export const metadata = z.record(z.string(), z.unknown())

const shared = {
  external_id: text,
  first_name: text,
  last_name: text,
  locale: text,
  username: text,
  password: text,
  password_digest: text,
  password_hasher: z.string().optional(),
  skip_password_checks: flag,
  totp_secret: text,
  backup_codes: texts,
  delete_self_enabled: flag,
  create_organization_enabled: flag,
  create_organizations_limit: count,
  legal_accepted_at: time,
  skip_legal_checks: flag,
  created_at: time,
  bypass_client_trust: flag,
}

const metadataParts = {
  public_metadata: metadata.optional(),
  private_metadata: metadata.optional(),
  unsafe_metadata: metadata.optional(),
}

/** `POST /users` */
export const newUserFields = z.strictObject({
  ...shared,
  ...metadataParts,
  email_address: texts,
  email_address_identification_status: statuses,
  phone_number: texts,
  phone_number_identification_status: statuses,
  web3_wallet: texts,
  skip_password_requirement: flag,
  skip_user_requirement: flag,
  banned: flag,
  locked: flag,
})

/** What a user is created of. */
export type NewUser = z.output<typeof newUserFields>

/** `PATCH /users/{id}`: without metadata, since 2026-05-12. */
export const userChangeFields = z.strictObject({
  ...shared,
  primary_email_address_id: text,
  notify_primary_email_address_changed: flag,
  primary_phone_number_id: text,
  primary_web3_wallet_id: text,
  profile_image_id: text,
  sign_out_of_other_sessions: flag,
})

/** What is changed of a user. */
export type UserChange = z.output<typeof userChangeFields>

/** `PATCH /users/{id}/metadata` */
export const userMetadataFields = z.strictObject(metadataParts)
