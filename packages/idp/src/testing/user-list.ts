/** `GET /users` and `GET /users/count`: filters, order and pages. */
import type { EndpointCall } from './instance.ts'
import { checkParameters, readBoolean, readOrder, readPage, sort } from './query.ts'
import type { WireUser } from './records.ts'
import { refusals, withUndocumented } from './refusals.ts'

const emailAddresses = (user: WireUser) => user.email_addresses.map(({ email_address }) => email_address)
const phoneNumbers = (user: WireUser) => user.phone_numbers.map(({ phone_number }) => phone_number)

/** The filters that take several values, and what a user has of each. */
const listFilters = new Map<string, (user: WireUser) => string[]>([
  ['email_address', emailAddresses],
  ['phone_number', phoneNumbers],
  ['user_id', ({ id }) => [id]],
  ['external_id', ({ external_id }) => [external_id ?? '']],
  ['username', ({ username }) => [username ?? '']],
])
const filters = ['query', ...listFilters.keys(), 'banned']

const sortKeys = {
  created_at: ({ created_at }: WireUser) => created_at,
  updated_at: ({ updated_at }: WireUser) => updated_at,
  email_address: (user: WireUser) => emailAddresses(user)[0] ?? null,
  web3wallet: () => null,
  first_name: ({ first_name }: WireUser) => first_name,
  last_name: ({ last_name }: WireUser) => last_name,
  phone_number: (user: WireUser) => phoneNumbers(user)[0] ?? null,
  username: ({ username }: WireUser) => username,
  last_active_at: ({ last_active_at }: WireUser) => last_active_at,
  last_sign_in_at: ({ last_sign_in_at }: WireUser) => last_sign_in_at,
}

/** `GET /users` */
export function listUsers({ instance: { users }, query }: EndpointCall): object[] {
  checkParameters(query, [...filters, 'limit', 'offset', 'starting_after', 'order_by'])
  const { limit, offset } = readPage(query)
  // The filters apply behind the cursor: its user may have changed since the page before.
  const sorted = afterCursor(sort(users.values(), query, sortKeys), query, offset)
  const found = sorted.filter(readFilter(query))
  return found.slice(offset, offset + limit).map(withUndocumented)
}

/** `GET /users/count` */
export function countUsers({ instance: { users }, query }: EndpointCall): object {
  checkParameters(query, filters)
  // A sign in front of an id has a meaning in the list alone, so here another one keeps it.
  const signed = [...query].map(([name, value]) => [name, name.endsWith('_id') ? `+${value}` : value])
  const found = [...users.values()].filter(readFilter(new URLSearchParams(signed)))
  return withUndocumented({ object: 'total_count', total_count: found.length })
}

function afterCursor(users: WireUser[], query: URLSearchParams, offset: number): WireUser[] {
  const cursor = query.get('starting_after')
  if (cursor === null) return users
  if (readOrder(query).field !== 'created_at') throw notTogether('order_by')
  if (offset > 0) throw notTogether('offset')
  const index = users.findIndex(({ id }) => id === cursor)
  if (index >= 0) return users.slice(index + 1)
  const message = 'The resource associated with the supplied starting_after was not found.'
  throw refusals.parameter('form_resource_not_found', 'starting_after', 'is missing', message)
}

function notTogether(other: string) {
  const message = `\`starting_after\` isn't allowed when \`${other}\` is present.`
  return refusals.parameter('form_conditional_param_disallowed', 'starting_after', 'is not allowed', message)
}

function readFilter(query: URLSearchParams): (user: WireUser) => boolean {
  const text = query.get('query')?.toLowerCase() ?? ''
  const lists = [...listFilters].map(([name, valuesOf]) => readListFilter(query, name, valuesOf))
  const banned = readBoolean(query, 'banned')
  return (user) =>
    (text === '' || searchable(user).some((value) => value.toLowerCase().includes(text))) &&
    lists.every((holds) => holds(user)) &&
    (banned === undefined || user.banned === banned)
}

function readListFilter(query: URLSearchParams, name: string, valuesOf: (user: WireUser) => string[]) {
  const given = query.getAll(name)
  const isSigned = name === 'user_id' || name === 'external_id'
  const wanted = new Set<string>()
  const unwanted = new Set<string>()
  for (const value of given) {
    const set = isSigned && value.startsWith('-') ? unwanted : wanted
    set.add((isSigned ? value.replace(/^[+-]/, '') : value).toLowerCase())
  }
  return (user: WireUser) => {
    const values = valuesOf(user).map((value) => value.toLowerCase())
    return (
      (wanted.size === 0 || values.some((value) => wanted.has(value))) &&
      !values.some((value) => unwanted.has(value))
    )
  }
}

function searchable(user: WireUser): string[] {
  const { id, username, first_name, last_name } = user
  const name = [first_name, last_name].filter(Boolean).join(' ')
  return [id, ...emailAddresses(user), ...phoneNumbers(user), username ?? '', name]
}
