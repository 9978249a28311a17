/**
 * The input and output of the client (contract §9): camelCase names, times in ISO 8601, and `null` for absent
 * values.
 */
import * as z from 'zod'

const time = z.iso.datetime()
const metadata = z.record(z.string(), z.unknown())

/** A user of an identity-provider application. */
export const user = z
  .object({
    id: z.string(),
    emailAddress: z.string().nullable().describe('The primary one of the user.'),
    emailAddresses: z.array(z.string()),
    verifiedEmailAddresses: z.array(z.string()),
    phoneNumber: z.string().nullable().describe('The primary one of the user.'),
    phoneNumbers: z.array(z.string()),
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
    lastActiveAt: time.nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ title: 'User' })

/** An organization of an identity-provider application. */
export const organization = z
  .object({
    id: z.string(),
    name: z.string(),
    slug: z.string().nullable(),
    imageUrl: z.string().nullable(),
    membersCount: z.int().nullable().describe('Null unless includeMembersCount is set.'),
    maxAllowedMemberships: z.int().nullable(),
    publicMetadata: metadata,
    privateMetadata: metadata,
    createdBy: z.string().nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ title: 'Organization' })

/** A user of an identity-provider application. */
export type User = z.infer<typeof user>

/** An organization of an identity-provider application. */
export type Organization = z.infer<typeof organization>

/** The algorithms of password digests that the provider accepts. */
export const passwordHashers = [
  'argon2i',
  'argon2id',
  'bcrypt',
  'bcrypt_sha256_django',
  'ldap_ssha',
  'md5',
  'md5_phpass',
  'pbkdf2_sha1',
  'pbkdf2_sha256',
  'pbkdf2_sha256_django',
  'pbkdf2_sha512',
  'pbkdf2_sha512_hex',
  'phpass',
  'scrypt_firebase',
  'scrypt_werkzeug',
  'sha256',
  'sha512_symfony',
] as const

/** The filters of users that take one value or a list. */
export const listFilterNames = ['emailAddress', 'phoneNumber', 'userId', 'externalId', 'username'] as const

/** The fields by which users can be ordered. */
export const userOrderFields = [
  'createdAt',
  'updatedAt',
  'emailAddress',
  'web3wallet',
  'firstName',
  'lastName',
  'phoneNumber',
  'username',
  'lastActiveAt',
  'lastSignInAt',
] as const

/** The fields by which organizations can be ordered. */
export const organizationOrderFields = ['name', 'createdAt', 'membersCount'] as const

/** A field; with `-` in front, descending. */
type Order<Fields extends readonly string[]> = Fields[number] | `-${Fields[number]}`

/** The fields of a user that can be changed. `null` clears a field. */
export interface UserChanges {
  firstName?: string | null | undefined
  lastName?: string | null | undefined
  username?: string | null | undefined
  password?: string | undefined
  /** The digest of a password, from another system. Needs `passwordHasher`. */
  passwordDigest?: string | undefined
  /** The algorithm of `passwordDigest`. */
  passwordHasher?: (typeof passwordHashers)[number] | undefined
  /** The user's id in your own system. */
  externalId?: string | null | undefined
  /** When the user signed up, in ISO 8601, for a user of another system. */
  createdAt?: string | undefined
  /** Accept a password that is known to be leaked. */
  skipPasswordChecks?: boolean | undefined
  /** Do not ask the user to accept the legal documents, for a user of another system. */
  skipLegalChecks?: boolean | undefined
  /** Merged into the current metadata; `null` removes a key. */
  publicMetadata?: Record<string, unknown> | undefined
  /** Merged into the current metadata; `null` removes a key. */
  privateMetadata?: Record<string, unknown> | undefined
  /** Merged into the current metadata; `null` removes a key. */
  unsafeMetadata?: Record<string, unknown> | undefined
}

/** A user to create. */
export interface NewUser extends UserChanges {
  /** The first is the primary one. */
  emailAddress?: string | readonly string[] | undefined
  /** The first is the primary one; `+` and digits. */
  phoneNumber?: string | readonly string[] | undefined
  /** Create the user without a password, even if the instance requires one. */
  skipPasswordRequirement?: boolean | undefined
}

/** A filter of users. All its conditions must hold. */
export interface UserFilter {
  /** Occurs in an address, a name, a phone number or an id. */
  query?: string | undefined
  /** Has this address, or one of these: from 1 to 100. */
  emailAddress?: string | readonly string[] | undefined
  /** Has this number, or one of these: from 1 to 100. */
  phoneNumber?: string | readonly string[] | undefined
  /** Has this id, or one of these: from 1 to 100. */
  userId?: string | readonly string[] | undefined
  /** Has this id in your own system, or one of these: from 1 to 100. */
  externalId?: string | readonly string[] | undefined
  /** Has this user name, or one of these: from 1 to 100. */
  username?: string | readonly string[] | undefined
  /** Only banned users, or only others. */
  banned?: boolean | undefined
}

interface Page {
  /**
   * From 1 to 500.
   * @default 10
   */
  limit?: number | undefined
  /** The number of results to skip. */
  offset?: number | undefined
}

/** A page of users. `offset` can't be combined with `startingAfter`. */
export interface UserListOptions extends UserFilter, Page {
  /** @default '-createdAt' */
  orderBy?: Order<typeof userOrderFields> | undefined
  /** The `nextCursor` of the previous page. Needs an order by `createdAt`. */
  startingAfter?: string | undefined
}

/** An organization to create. */
export interface NewOrganization {
  name: string
  /** Lower-case letters, digits and dashes; derived from the name by default. */
  slug?: string | undefined
  /** The id of the user who becomes its first administrator. */
  createdBy?: string | undefined
  /** 0: no limit. */
  maxAllowedMemberships?: number | undefined
  publicMetadata?: Record<string, unknown> | undefined
  privateMetadata?: Record<string, unknown> | undefined
}

/** A page of organizations. */
export interface OrganizationListOptions extends Page {
  /** Occurs in the name or the slug, or equals the id. */
  query?: string | undefined
  /** Fill `membersCount`. */
  includeMembersCount?: boolean | undefined
  /** @default '-createdAt' */
  orderBy?: Order<typeof organizationOrderFields> | undefined
}
