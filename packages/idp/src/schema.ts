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
    phoneNumber: z.string().nullable().describe('The primary one of the user.'),
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

/** The fields of a user that can be changed. */
export interface UserChanges {
  firstName?: string | undefined
  lastName?: string | undefined
  username?: string | undefined
  password?: string | undefined
  /** The user's id in your own system. */
  externalId?: string | undefined
  /** Accept a password that is known to be leaked. */
  skipPasswordChecks?: boolean | undefined
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
  /**
   * A field, with `-` in front for descending.
   * @default '-created_at'
   */
  orderBy?: string | undefined
  /** The `nextCursor` of the previous page. Needs an order by `created_at`. */
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
  /**
   * `name`, `created_at` or `members_count`, with `-` in front for descending.
   * @default '-created_at'
   */
  orderBy?: string | undefined
}
