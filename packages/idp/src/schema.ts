/**
 * What a user and an organization look like to who calls a function (contract §9): camelCase, ISO 8601, and
 * `null` for what is absent.
 *
 * @module
 */
import * as z from 'zod'

const time = z.iso.datetime()
const metadata = z.record(z.string(), z.unknown())

/** A user of an identity-provider application. */
export const user = z.object({
  id: z.string(),
  emailAddress: z.string().nullable().describe('The primary one.'),
  emailAddresses: z.array(z.string()),
  phoneNumber: z.string().nullable().describe('The primary one.'),
  username: z.string().nullable(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  externalId: z.string().nullable(),
  imageUrl: z.string().nullable(),
  banned: z.boolean(),
  locked: z.boolean(),
  publicMetadata: metadata,
  privateMetadata: metadata,
  unsafeMetadata: metadata,
  lastSignInAt: time.nullable(),
  createdAt: time,
  updatedAt: time,
})

/** An organization of an identity-provider application. */
export const organization = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string().nullable(),
  imageUrl: z.string().nullable(),
  membersCount: z.int().nullable().describe('Where it was asked for.'),
  maxAllowedMemberships: z.int().nullable(),
  publicMetadata: metadata,
  privateMetadata: metadata,
  createdBy: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
})

/** A user of an identity-provider application. */
export type User = z.infer<typeof user>

/** An organization of an identity-provider application. */
export type Organization = z.infer<typeof organization>
