/** The lists of users and organizations: filters, orders and pages. */
import type { EndpointCall } from './instance.ts'
import type { WireOrganization, WireUser } from './records.ts'
import { refusals, withUndocumented } from './refusals.ts'

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

/** `GET /users` */
export function listUsers({ instance: { users }, query }: EndpointCall): object[] {
  checkParameters(query, [...filters, 'limit', 'offset', 'starting_after', 'order_by'])
  // The filters apply behind the cursor: its user may have changed since the page before.
  const sorted = afterCursor(sort(users.values(), query, userOrders, userOrder), query)
  return page(sorted.filter(readFilter(query, true)), query).map(withUndocumented)
}

/** `GET /users/count` */
export function countUsers({ instance: { users }, query }: EndpointCall): object {
  checkParameters(query, filters)
  const found = [...users.values()].filter(readFilter(query, false))
  return { object: 'total_count', total_count: found.length }
}

/** `GET /organizations` */
export function listOrganizations({ instance, query }: EndpointCall): object {
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
