/** The endpoints of one user, and of a new organization, with the provider's checks. */
import type { EndpointCall, IdpInstance } from './instance.ts'
import {
  buildUser,
  type NewUser,
  newOrganizationFields,
  newUserFields,
  userChangeFields,
  userMetadataFields,
  type WireMetadata,
  type WireUser,
} from './records.ts'
import { readBody, refusals, withUndocumented } from './refusals.ts'

/** `POST /users` */
export function createUser({ instance, request, at }: EndpointCall): object {
  const fields = readBody(request, newUserFields)
  checkUnique(fields, instance)
  const user = buildUser(fields, at)
  instance.users.set(user.id, user)
  return withUndocumented(user)
}

/** `GET /users/{id}` */
export function getUser(call: EndpointCall): object {
  return withUndocumented(findUser(call))
}

/** `PATCH /users/{id}` */
export function updateUser(call: EndpointCall): object {
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

/** `PATCH /users/{id}/metadata` */
export function mergeMetadata(call: EndpointCall): object {
  const user = findUser(call)
  const fields = readBody(call.request, userMetadataFields)
  for (const name of ['public_metadata', 'private_metadata', 'unsafe_metadata'] as const) {
    user[name] = merge(user[name], fields[name] ?? {})
  }
  user.updated_at = call.at
  return withUndocumented(user)
}

/** `DELETE /users/{id}` */
export function deleteUser(call: EndpointCall): object {
  const { id } = findUser(call)
  call.instance.users.delete(id)
  return withUndocumented({ object: 'user', id, deleted: true })
}

/** `POST /organizations` */
export function createOrganization({ instance, request }: EndpointCall): object {
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
    if (value === null) merged.delete(key)
    else merged.set(key, isObject(value) ? merge(toObject(merged.get(key)), value) : value)
  }
  return Object.fromEntries(merged)
}

function toObject(value: unknown): WireMetadata {
  return isObject(value) ? value : {}
}

function isObject(value: unknown): value is WireMetadata {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
