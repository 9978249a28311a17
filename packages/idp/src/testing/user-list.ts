/**
 * `GET /users` and `GET /users/count`: filters, order and pages.
 *
 * @module
 */
import type { IdpInstance } from './instance.ts'
import { readBoolean, readInteger, readOrder, readPage, readSigned, readValues, sortBy } from './query.ts'
import { refusals, withUndocumented } from './refusals.ts'
import { describeUser } from './users.ts'
import type { WireUser } from './wire-user.ts'

/** `GET /users` */
export function listUsers(instance: IdpInstance, query: URLSearchParams): object[] {
  const { limit, offset } = readPage(query)
  const { field, descending } = readOrder(query, Object.keys(orders))
  const cursor = query.get('starting_after')
  if (cursor !== null && field !== 'created_at') throw refusals.notTogether('starting_after', 'order_by')
  if (cursor !== null && offset > 0) throw refusals.notTogether('starting_after', 'offset')

  const sorted = sortBy([...instance.users.values()], orders[field] ?? (() => null), descending)
  const passes = readFilter(query, instance)
  const found = sorted.slice(afterCursor(sorted, cursor)).filter(passes)
  return found.slice(offset, offset + limit).map(describeUser)
}

/** `GET /users/count` */
export function countUsers(instance: IdpInstance, query: URLSearchParams): object {
  const passes = readFilter(query, instance)
  const found = [...instance.users.values()].filter(passes)
  return withUndocumented({ object: 'total_count', total_count: found.length })
}

/** The cursor is looked up before the filters: its user may have changed since the page before. */
function afterCursor(users: readonly WireUser[], cursor: string | null): number {
  if (cursor === null) return 0
  const index = users.findIndex(({ id }) => id === cursor)
  if (index === -1) throw refusals.missingResource('starting_after')
  return index + 1
}

const orders: Readonly<Record<string, (user: WireUser) => string | number | null>> = {
  created_at: ({ created_at }) => created_at,
  updated_at: ({ updated_at }) => updated_at,
  email_address: (user) => emailAddresses(user)[0] ?? null,
  web3wallet: (user) => wallets(user)[0] ?? null,
  first_name: ({ first_name }) => first_name,
  last_name: ({ last_name }) => last_name,
  phone_number: (user) => phoneNumbers(user)[0] ?? null,
  username: ({ username }) => username,
  last_active_at: ({ last_active_at }) => last_active_at,
  last_sign_in_at: ({ last_sign_in_at }) => last_sign_in_at,
}

const emailAddresses = (user: WireUser) => user.email_addresses.map(({ email_address }) => email_address)
const phoneNumbers = (user: WireUser) => user.phone_numbers.map(({ phone_number }) => phone_number)
const wallets = (user: WireUser) => user.web3_wallets.map(({ web3_wallet }) => web3_wallet)
const usernames = ({ username }: WireUser) => (username === null ? [] : [username])
const names = ({ first_name, last_name }: WireUser) => [[first_name, last_name].filter(Boolean).join(' ')]

type Filter = (user: WireUser) => boolean

/** Repeated parameters, of which one value must be the user's. */
const values: Readonly<Record<string, (user: WireUser) => string[]>> = {
  email_address: emailAddresses,
  phone_number: phoneNumbers,
  username: usernames,
  web3_wallet: wallets,
}

/** Texts that must occur in one of the user's. */
const searches: Readonly<Record<string, (user: WireUser) => string[]>> = {
  query: (user) => [
    user.id,
    ...emailAddresses(user),
    ...phoneNumbers(user),
    ...usernames(user),
    ...wallets(user),
    ...names(user),
  ],
  email_address_query: emailAddresses,
  phone_number_query: phoneNumbers,
  username_query: usernames,
  name_query: names,
}

const times = ['created_at', 'last_active_at', 'last_sign_in_at'] as const

function readFilter(query: URLSearchParams, instance: IdpInstance): Filter {
  const filters = [
    ...readValueFilters(query),
    ...readSearches(query),
    ...readSignedFilters(query, instance),
    ...times.flatMap((field) => readTimeFilters(query, field)),
  ]
  const banned = readBoolean(query, 'banned')
  if (banned !== undefined) filters.push((user) => user.banned === banned)
  // No user of the emulator has an account elsewhere.
  if (query.has('provider') || query.has('provider_user_id')) filters.push(() => false)
  return (user) => filters.every((passes) => passes(user))
}

function readValueFilters(query: URLSearchParams): Filter[] {
  return Object.entries(values).flatMap(([parameter, read]) => {
    const wanted = new Set(readValues(query, parameter).map((value) => value.toLowerCase()))
    return wanted.size === 0 ? [] : [(user: WireUser) => read(user).some((value) => wanted.has(value))]
  })
}

function readSearches(query: URLSearchParams): Filter[] {
  return Object.entries(searches).flatMap(([parameter, read]) => {
    const wanted = query.get(parameter)?.toLowerCase()
    return wanted ? [(user: WireUser) => read(user).some((text) => text.toLowerCase().includes(wanted))] : []
  })
}

function readSignedFilters(query: URLSearchParams, { members }: IdpInstance): Filter[] {
  const hasId = readSigned(query, 'user_id')
  const hasExternalId = readSigned(query, 'external_id')
  const hasOrganization = readSigned(query, 'organization_id')
  return [
    ({ id }) => hasId((wanted) => id === wanted),
    ({ external_id }) => hasExternalId((wanted) => external_id === wanted),
    ({ id }) => hasOrganization((wanted) => members.get(wanted)?.has(id) ?? false),
  ]
}

function readTimeFilters(query: URLSearchParams, field: (typeof times)[number]): Filter[] {
  const before = readInteger(query, `${field}_before`)
  // The older name of the same bound, documented for the last activity only.
  const since = field === 'last_active_at' ? readInteger(query, 'last_active_at_since') : undefined
  const after = readInteger(query, `${field}_after`) ?? since
  return [
    ...(before === undefined ? [] : [(user: WireUser) => (user[field] ?? Number.POSITIVE_INFINITY) < before]),
    ...(after === undefined ? [] : [(user: WireUser) => (user[field] ?? Number.NEGATIVE_INFINITY) > after]),
  ]
}
