/**
 * The bodies of the user endpoints, as far as the client uses them. The emulator refuses every other field.
 *
 * @module
 */
import * as z from 'zod'

const text = z.string().nullable().optional()
const texts = z.array(z.string()).optional()
const flag = z.boolean().nullable().optional()

/** Metadata: any JSON object. */
export const metadata = z.record(z.string(), z.unknown())

const shared = {
  external_id: text,
  first_name: text,
  last_name: text,
  username: text,
  password: text,
  skip_password_checks: flag,
}

const metadataFields = {
  public_metadata: metadata.optional(),
  private_metadata: metadata.optional(),
  unsafe_metadata: metadata.optional(),
}

/** The body of `POST /users`. */
export const newUserFields = z.strictObject({
  ...shared,
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
export const userChangeFields = z.strictObject(shared)

/** Changed fields of a user. */
export type UserChange = z.output<typeof userChangeFields>

/** The body of `PATCH /users/{id}/metadata`. */
export const userMetadataFields = z.strictObject(metadataFields)
