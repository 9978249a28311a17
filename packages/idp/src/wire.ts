/**
 * The provider's format: tolerant schemas that read its responses, and functions that build its requests.
 *
 * @see https://clerk.com/docs/reference/backend-api
 */
import * as z from 'zod'
import { toSnakeCase, wireErrorsFor } from './api.ts'
import {
  changeFields,
  filterFields,
  metadataFields,
  type NewUser,
  newUserFields,
  type OrganizationListOptions,
  organizationFields,
  organizationListFields,
  pageFields,
  type User,
  type UserFilter,
  type UserListOptions,
  userListFields,
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

/** Reads an object whose fields have snake_case names. */
function wireObject<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).map((name): [string, string] => [name, toSnakeCase(name)])
  const record = z.record(z.string(), z.unknown())
  return record
    .transform((wire) => Object.fromEntries(names.map(([name, wireName]) => [name, wire[wireName]])))
    .pipe(z.object(shape))
}

/** The state of an address. In another format, the address counts as unverified. */
const verification = z.object({ status: z.string() }).nullish().catch(undefined)

/** A user, in the response of every endpoint. */
export const wireUser = wireObject({
  id: z.string(),
  primaryEmailAddressId: text,
  emailAddresses: withDefault(z.array(wireObject({ id: text, emailAddress: z.string(), verification })), []),
  primaryPhoneNumberId: text,
  phoneNumbers: withDefault(z.array(wireObject({ id: text, phoneNumber: z.string() })), []),
  username: text,
  firstName: text,
  lastName: text,
  externalId: text,
  imageUrl: text,
  banned: flag,
  locked: flag,
  publicMetadata: metadata,
  privateMetadata: metadata,
  unsafeMetadata: metadata,
  lastSignInAt: optionalTime,
  lastActiveAt: optionalTime,
  createdAt: time,
  updatedAt: time,
}).transform(
  ({ primaryEmailAddressId, emailAddresses, primaryPhoneNumberId, phoneNumbers, ...user }): User => ({
    ...user,
    emailAddress: primary(emailAddresses, primaryEmailAddressId)?.emailAddress ?? null,
    emailAddresses: emailAddresses.map(({ emailAddress }) => emailAddress),
    verifiedEmailAddresses: emailAddresses
      .filter(({ verification }) => verification?.status === 'verified')
      .map(({ emailAddress }) => emailAddress),
    phoneNumber: primary(phoneNumbers, primaryPhoneNumberId)?.phoneNumber ?? null,
    phoneNumbers: phoneNumbers.map(({ phoneNumber }) => phoneNumber),
  }),
)

/** An organization, in the response of every endpoint. */
export const wireOrganization = wireObject({
  id: z.string(),
  name: z.string(),
  slug: text,
  imageUrl: text,
  membersCount: count,
  maxAllowedMemberships: count,
  publicMetadata: metadata,
  privateMetadata: metadata,
  createdBy: text,
  createdAt: time,
  updatedAt: time,
})

/** `GET /organizations`. */
export const wireOrganizations = wireObject({ data: z.array(wireOrganization), totalCount: z.int() })

/** `GET /users/count`. */
export const wireTotal = wireObject({ totalCount: z.int() }).transform(({ totalCount }) => totalCount)

/** `GET /instance`. */
export const wireInstance = wireObject({ id: z.string(), environmentType: z.string() })

/** `GET /domains`. */
export const wireDomains = wireObject({
  data: z.array(wireObject({ name: text, frontendApiUrl: text })),
}).transform(({ data }) => data)

/** `DELETE /users/{id}`. */
export const wireDeleted = z.object({ deleted: z.literal(true) })

/** The body of an error response, with the arguments of every method. */
export const wireErrors = wireErrorsFor(
  [
    ...[newUserFields, changeFields, metadataFields, filterFields, pageFields, userListFields],
    ...[organizationFields, organizationListFields],
  ].flatMap(Object.keys),
)

/** Builds an object with snake_case names from the given fields, and from no others. */
export function toWire<Value>(values: Readonly<Record<string, Value>>, ...fields: object[]) {
  const names = fields.flatMap(Object.keys)
  return Object.fromEntries(
    names.map((name): [string, Value | undefined] => [toSnakeCase(name), values[name]]),
  )
}

/** The filters in the query of `GET /users`, where alone a sign in front of an id has a meaning. */
export function toFilterQuery(filter: UserFilter) {
  const { userId, externalId } = filter
  return { ...toWire(filter, filterFields), user_id: toIncluded(userId), external_id: toIncluded(externalId) }
}

/** The query of `GET /users`. */
export function toUserQuery(list: UserListOptions) {
  return { ...toFilterQuery(list), ...toWire(list, pageFields, userListFields), order_by: toOrder(list) }
}

/** The query of `GET /organizations`. */
export function toOrganizationQuery(list: OrganizationListOptions) {
  return { ...toWire(list, pageFields, organizationListFields), order_by: toOrder(list) }
}

/** The body of `POST /users`. */
export function toWireUser(user: NewUser): object {
  const { emailAddress, phoneNumber } = user
  const lists = { email_address: toList(emailAddress), phone_number: toList(phoneNumber) }
  return { ...toWire(user, newUserFields, changeFields, metadataFields), ...lists }
}

function primary<Item extends { id: string | null }>(items: readonly Item[], id: string | null) {
  return id === null ? undefined : items.find((item) => item.id === id)
}

function toList(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value
}

/** A sign in front of an id includes or excludes it: an id that begins with one needs another in front. */
function toIncluded(ids: string | readonly string[] | undefined): readonly string[] | undefined {
  return toList(ids)?.map((id) => (/^[+-]/.test(id) ? `+${id}` : id))
}

function toOrder({ orderBy }: { orderBy?: string | undefined }): string | undefined {
  return orderBy && toSnakeCase(orderBy)
}
