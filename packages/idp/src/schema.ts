/**
 * The input and output of the client and of the functions (contract §9): camelCase names, times in ISO 8601, and `null`
 * for absent values.
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

/** The most values of one filter, as the provider has it. */
const MAX_FILTER_VALUES = 100

const text = z.string().trim().min(1)
const textOrList = z.union([text, z.array(text).min(1)], {
  error: 'expected a text, or a list of at least one text',
})
const oneOrMany = z.union([text, z.array(text).min(1).max(MAX_FILTER_VALUES)], {
  error: `expected a text, or a list of 1 to ${MAX_FILTER_VALUES} texts`,
})
const order = <Field extends string>(fields: readonly Field[]) =>
  z
    .enum(fields.flatMap((field): (Field | `-${Field}`)[] => [field, `-${field}`]))
    .optional()
    .describe('A field, with - in front for descending. The default is -createdAt.')

/** The id of a user. */
export const userId = text
  .meta({ examples: ['user_2xPZv8ySAMPLEcQ4sKfT1b9d'] })
  .describe('The id of the user, user_….')

/** Metadata of a user. A change is merged into it, and `null` removes a key. */
export const metadataFields = {
  publicMetadata: metadata.optional().describe('Readable by frontends and backends.'),
  privateMetadata: metadata.optional().describe('Readable only by backends.'),
  unsafeMetadata: metadata
    .optional()
    .describe('Readable by frontends and backends, and writable by frontends.'),
}

/** The other fields of a user that can be changed. `null` clears a field. */
export const changeFields = {
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  username: text.nullish(),
  password: z.string().min(1).optional(),
  passwordDigest: z
    .string()
    .min(1)
    .optional()
    .describe('The digest of a password, from another system. Needs passwordHasher.'),
  passwordHasher: text.optional().describe('The algorithm of passwordDigest, such as bcrypt or argon2id.'),
  externalId: text.nullish().describe('The user’s id in your own system.'),
  createdAt: z.iso.datetime().optional().describe('When a user of another system signed up.'),
  skipPasswordChecks: z.boolean().optional().describe('Accept a password that is known to be leaked.'),
  skipLegalChecks: z.boolean().optional().describe('Do not ask to accept the legal documents.'),
}

/** The fields that only a new user has. */
export const newUserFields = {
  emailAddress: textOrList.optional().describe('One address, or several; the first is the primary one.'),
  phoneNumber: textOrList.optional().describe('One number, or several; the first is the primary one.'),
  skipPasswordRequirement: z.boolean().optional().describe('Create the user without a password.'),
}

/** The filters of users that take one value or a list. */
export const listFilterFields = {
  emailAddress: oneOrMany.optional().describe('Has this address, or one of these.'),
  phoneNumber: oneOrMany.optional().describe('Has this number, or one of these.'),
  userId: oneOrMany.optional().describe('Has this id, or one of these.'),
  externalId: oneOrMany.optional().describe('Has this id in your own system, or one of these.'),
  username: oneOrMany.optional().describe('Has this user name, or one of these.'),
}

/** The filters of users. All conditions must hold. */
export const filterFields = {
  query: z.string().optional().describe('Occurs in an address, a name, a phone number or an id.'),
  ...listFilterFields,
  banned: z.boolean().optional().describe('Only banned users, or only others.'),
}

/** A page of a list. */
export const pageFields = {
  limit: z.int().min(1).max(500).optional().describe('The largest number of results. The default is 10.'),
  offset: z.int().min(0).optional().describe('The number of results to skip.'),
}

/** What a list of users has beside filters and pages. */
export const userListFields = {
  startingAfter: text
    .optional()
    .describe('The nextCursor of the previous page. Needs an order by createdAt, and no offset.'),
  orderBy: order([
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
  ]),
}

/** The fields of a new organization. */
export const organizationFields = {
  name: text,
  slug: text.optional().describe('Lower-case letters, digits and dashes; by default made of the name.'),
  createdBy: text.optional().describe('The id of the user who becomes its first administrator.'),
  maxAllowedMemberships: z.int().min(0).optional().describe('0: no limit.'),
  publicMetadata: metadata.optional(),
  privateMetadata: metadata.optional(),
}

/** What a list of organizations has beside pages. */
export const organizationListFields = {
  query: z.string().optional().describe('Occurs in the name, the slug or the id.'),
  includeMembersCount: z.boolean().optional(),
  orderBy: order(['name', 'createdAt', 'membersCount']),
}

/** The input of these fields, where a list may be read-only. */
type Input<Fields extends z.ZodRawShape> = ReadOnlyLists<z.input<z.ZodObject<Fields>>>
type ReadOnlyLists<Values> = {
  [Name in keyof Values]: string[] extends Values[Name] ? Values[Name] | readonly string[] : Values[Name]
}

/** The fields of a user that can be changed. `null` clears a field; metadata is merged. */
export type UserChanges = Input<typeof changeFields & typeof metadataFields>

/** A user to create. */
export type NewUser = Input<typeof newUserFields & typeof changeFields & typeof metadataFields>

/** A filter of users. All its conditions must hold. */
export type UserFilter = Input<typeof filterFields>

/** A page of users. `offset` can't be combined with `startingAfter`, which is the `nextCursor` of the page before. */
export type UserListOptions = Input<typeof filterFields & typeof pageFields & typeof userListFields>

/** An organization to create. */
export type NewOrganization = Input<typeof organizationFields>

/** A page of organizations. */
export type OrganizationListOptions = Input<typeof pageFields & typeof organizationListFields>
