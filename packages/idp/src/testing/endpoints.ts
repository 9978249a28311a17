/** The endpoints of users and organizations, with the provider's checks, filters, orders and pages. */
import type { EndpointCall, IdpInstance } from './instance.ts'
import {
  buildUser,
  type NewUser,
  newOrganizationFields,
  newUserFields,
  userChangeFields,
  userMetadataFields,
  type WireMetadata,
  type WireOrganization,
  type WireUser,
} from './records.ts'
import { readBody, refusals, withUndocumented } from './refusals.ts'

/** By method and path. */
export const endpoints = new Map<string, (call: EndpointCall) => unknown>([
  ['GET /v1/users', listUsers],
  ['POST /v1/users', createUser],
  ['GET /v1/users/count', countUsers],
  ['GET /v1/users/{id}', (call) => withUndocumented(findUser(call))],
  ['PATCH /v1/users/{id}', updateUser],
  ['DELETE /v1/users/{id}', deleteUser],
  ['PATCH /v1/users/{id}/metadata', mergeMetadata],
  ['GET /v1/organizations', listOrganizations],
  ['POST /v1/organizations', createOrganization],
  ['GET /v1/instance', describeInstance],
  ['GET /v1/domains', describeDomains],
])

function createUser({ instance, request, at }: EndpointCall): object {
  const fields = readBody(request, newUserFields)
  checkUnique(fields, instance)
  const user = buildUser(fields, at)
  instance.users.set(user.id, user)
  return withUndocumented(user)
}

function updateUser(call: EndpointCall): object {
  const user = findUser(call)
  const fields = readBody(call.request, userChangeFields)
  checkUnique(fields, call.instance, user)
  const { username, password, password_digest } = fields
  for (const name of ['external_id', 'first_name', 'last_name'] as const) {
    const value = fields[name]
    if (value !== undefined) user[name] = value
  }
  if (username !== undefined) user.username = username?.toLowerCase() || null
  if (password || password_digest) user.password_enabled = true
  if (fields.created_at) user.created_at = Date.parse(fields.created_at)
  user.updated_at = call.at
  return withUndocumented(user)
}

function mergeMetadata(call: EndpointCall): object {
  const user = findUser(call)
  const fields = readBody(call.request, userMetadataFields)
  for (const name of ['public_metadata', 'private_metadata', 'unsafe_metadata'] as const) {
    user[name] = merge(user[name], fields[name] ?? {})
  }
  user.updated_at = call.at
  return withUndocumented(user)
}

function deleteUser(call: EndpointCall): object {
  const { id } = findUser(call)
  call.instance.users.delete(id)
  return withUndocumented({ object: 'user', id, deleted: true })
}

function createOrganization({ instance, request }: EndpointCall): object {
  const { slug: given, ...fields } = readBody(request, newOrganizationFields)
  const all = [...instance.organizations.values()]
  if (given && all.some(({ slug }) => slug === given)) throw refusals.taken('slug')
  const slug = given || `${fields.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-${all.length + 1}`
  return withUndocumented(instance.createOrganization({ ...fields, slug }))
}

function findUser({ instance, id }: EndpointCall): WireUser {
  const user = instance.users.get(id)
  if (!user) throw refusals.notFound(`No user was found with id ${id}`)
  return user
}

function checkUnique(fields: NewUser, { users }: IdpInstance, self?: WireUser): void {
  const others = [...users.values()].filter((user) => user !== self)
  const owned = new Set(others.flatMap(identifiersOf).map(String))
  const taken = identifiersOf(buildUser(fields, 0)).find((identifier) => owned.has(String(identifier)))
  if (taken) throw refusals.taken(taken[0])
}

/** The identifiers that no two users of an instance share, each with the name of its field. */
function identifiersOf(user: WireUser): [field: string, value: string][] {
  const { email_addresses, phone_numbers, username, external_id } = user
  return [
    ...email_addresses.map((one): [string, string] => ['email_address', one.email_address]),
    ...phone_numbers.map((one): [string, string] => ['phone_number', one.phone_number]),
    ...Object.entries({ username: username ?? '', external_id: external_id ?? '' }),
  ].filter(([, value]) => value !== '')
}

/** Merges at every depth; `null` removes a key. */
function merge(kept: WireMetadata, change: WireMetadata): WireMetadata {
  const merged = new Map(Object.entries(kept))
  for (const [key, value] of Object.entries(change)) {
    const former = merged.get(key)
    if (value === null) merged.delete(key)
    else merged.set(key, isObject(value) ? merge(isObject(former) ? former : {}, value) : value)
  }
  return Object.fromEntries(merged)
}

function isObject(value: unknown): value is WireMetadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describeInstance({ instance: { id, environmentType } }: EndpointCall): object {
  return withUndocumented({ object: 'instance', id, environment_type: environmentType })
}

function describeDomains({ instance: { domains } }: EndpointCall): object {
  return { data: domains.map(withUndocumented), total_count: domains.length }
}

const addresses = (user: WireUser) => user.email_addresses.map((one) => one.email_address)
const numbers = (user: WireUser) => user.phone_numbers.map((one) => one.phone_number)

/** The filters that take several values, and what a user has of each. */
const listFilters = {
  email_address: addresses,
  phone_number: numbers,
  user_id: ({ id }: WireUser) => [id],
  external_id: ({ external_id }: WireUser) => [external_id ?? ''],
  username: ({ username }: WireUser) => [username ?? ''],
}
const filters = ['query', ...Object.keys(listFilters), 'banned']

/** The values by which users are sorted. */
const userOrder = (user: WireUser) => ({
  ...user,
  email_address: addresses(user)[0] ?? null,
  phone_number: numbers(user)[0] ?? null,
  web3wallet: null,
})
const userOrders = [
  ...['created_at', 'updated_at', 'email_address', 'web3wallet', 'first_name', 'last_name'],
  ...['phone_number', 'username', 'last_active_at', 'last_sign_in_at'],
]

function listUsers({ instance: { users }, query }: EndpointCall): object[] {
  checkParameters(query, [...filters, 'limit', 'offset', 'starting_after', 'order_by'])
  // The filters apply behind the cursor: its user may have changed since the page before.
  const sorted = afterCursor(sort(users.values(), query, userOrders, userOrder), query)
  return page(sorted.filter(readFilter(query, true)), query).map(withUndocumented)
}

function countUsers({ instance: { users }, query }: EndpointCall): object {
  checkParameters(query, filters)
  const found = [...users.values()].filter(readFilter(query, false))
  return { object: 'total_count', total_count: found.length }
}

function listOrganizations({ instance, query }: EndpointCall): object {
  checkParameters(query, ['limit', 'offset', 'query', 'include_members_count', 'order_by'])
  const wanted = query.get('query')?.toLowerCase() ?? ''
  const found = [...instance.organizations.values()].filter(
    ({ id, name, slug }) =>
      id === query.get('query') || name.toLowerCase().includes(wanted) || slug.includes(wanted),
  )
  const order = (one: WireOrganization) => ({ ...one, members_count: membersOf(one) })
  const sorted = sort(found, query, ['name', 'created_at', 'members_count'], order)
  const withCount = query.get('include_members_count') === 'true'
  const data = page(sorted, query).map((one) => (withCount ? order(one) : one))
  return { data: data.map(withUndocumented), total_count: found.length }
}

/** Whoever created an organization is its member. */
const membersOf = ({ created_by }: WireOrganization) => (created_by === undefined ? 0 : 1)

function checkParameters(query: URLSearchParams, known: readonly string[]): void {
  const unknown = [...new Set(query.keys())].filter((name) => !known.includes(name))
  if (unknown.length > 0) throw refusals.unknown(unknown)
}

/** @throws {Refusal} unless the limit is from 1 to 500, and the offset at least 0 */
function page<Item>(items: readonly Item[], query: URLSearchParams): Item[] {
  const [limit = 0, offset = 0] = [query.get('limit') ?? 10, query.get('offset') ?? 0].map(Number)
  if (!(limit >= 1 && limit <= 500)) throw refusals.wrongValue('limit', String(limit))
  if (!(offset >= 0)) throw refusals.wrongValue('offset', String(offset))
  return items.slice(offset, offset + limit)
}

/** The newest first by default. Items without a value come last. */
function sort<Item>(
  items: Iterable<Item>,
  query: URLSearchParams,
  names: readonly string[],
  valuesOf: (item: Item) => object,
): Item[] {
  const order = query.get('order_by') ?? '-created_at'
  const name = order.replace(/^-/, '')
  if (!names.includes(name)) throw refusals.wrongValue('order_by', order)
  const keyed = Array.from(items, (item) => ({ item, value: Reflect.get(valuesOf(item), name) ?? null }))
  const withValue = keyed.filter(({ value }) => value !== null)
  withValue.sort((one, other) => Number(one.value > other.value) - Number(one.value < other.value))
  if (order.startsWith('-')) withValue.reverse()
  return [...withValue, ...keyed.filter(({ value }) => value === null)].map(({ item }) => item)
}

function afterCursor(users: WireUser[], query: URLSearchParams): WireUser[] {
  const cursor = query.get('starting_after')
  if (cursor === null) return users
  const order = query.get('order_by') ?? 'created_at'
  const other = query.has('offset') ? 'offset' : order.endsWith('created_at') ? undefined : 'order_by'
  if (other) {
    const message = `\`starting_after\` isn't allowed when \`${other}\` is present.`
    throw refusals.parameter('form_conditional_param_disallowed', 'starting_after', message)
  }
  const index = users.findIndex(({ id }) => id === cursor)
  if (index >= 0) return users.slice(index + 1)
  throw refusals.parameter('form_resource_not_found', 'starting_after', 'The user was not found.')
}

/** @param isSigned whether a sign in front of an id has a meaning: in the list alone */
function readFilter(query: URLSearchParams, isSigned: boolean): (user: WireUser) => boolean {
  const text = query.get('query')?.toLowerCase() ?? ''
  const banned = query.get('banned')
  const lists = Object.entries(listFilters).map(([name, valuesOf]) => {
    // The client only includes, and writes a sign in front of an id that begins with one.
    const sign = isSigned && name.endsWith('_id') ? /^[+-]/ : /^$/
    const wanted = query.getAll(name).map((value) => value.toLowerCase().replace(sign, ''))
    return (user: WireUser) =>
      wanted.length === 0 || valuesOf(user).some((value) => wanted.includes(value.toLowerCase()))
  })
  return (user) =>
    searchable(user).some((value) => value.toLowerCase().includes(text)) &&
    lists.every((holds) => holds(user)) &&
    (banned === null || String(user.banned) === banned)
}

function searchable(user: WireUser): string[] {
  const { id, username, first_name, last_name } = user
  const name = [first_name, last_name].filter(Boolean).join(' ')
  return [id, ...addresses(user), ...numbers(user), username ?? '', name]
}
