/** The endpoints of one user, with the provider's checks. */
import { readBody } from './body.ts'
import type { EndpointCall, IdpInstance } from './instance.ts'
import {
  buildUser,
  type NewUser,
  newUserFields,
  userChangeFields,
  userMetadataFields,
  type WireMetadata,
  type WireUser,
} from './records.ts'
import { refusals, withUndocumented } from './refusals.ts'

const leakedPasswords = new Set(['password', 'password1', 'password123', '12345678', '123456789', 'qwertyui'])

/** `POST /users` */
export function createUser({ instance, request, at }: EndpointCall): object {
  const fields = readBody(request, newUserFields)
  checkCredentials(fields)
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
  const { password, username, skip_password_checks, ...fields } = readBody(call.request, userChangeFields)
  checkCredentials({ password, skip_password_checks, ...fields })
  if (skip_password_checks && !password) {
    const message = '`password` is required when `skip_password_checks` is present.'
    throw refusals.parameter('form_conditional_param_missing', 'password', 'is missing', message)
  }
  checkUnique({ username, ...fields }, call.instance, user)
  for (const name of ['external_id', 'first_name', 'last_name'] as const) {
    const value = fields[name]
    if (value !== undefined) user[name] = value
  }
  if (username !== undefined) user.username = username?.toLowerCase() || null
  if (password || fields.password_digest) user.password_enabled = true
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
  for (const members of call.instance.members.values()) members.delete(id)
  return withUndocumented({ object: 'user', id, deleted: true })
}

function findUser({ instance, id }: EndpointCall): WireUser {
  const user = instance.users.get(id)
  if (!user) throw refusals.notFound(`No user was found with id ${id}`)
  return user
}

function checkCredentials(fields: NewUser): void {
  const { password, password_digest, password_hasher, skip_password_checks } = fields
  if (Boolean(password_digest) !== Boolean(password_hasher)) {
    const missing = password_digest ? 'password_hasher' : 'password_digest'
    throw refusals.parameter('form_param_missing', missing, 'is missing', `${missing} must be included.`)
  }
  if (!password || skip_password_checks) return
  if (leakedPasswords.has(password.toLowerCase())) {
    const message =
      'Password has been found in an online data breach. For account safety, please use a different password.'
    throw refusals.parameter('form_password_pwned', 'password', message)
  }
}

function checkUnique(fields: NewUser, { users }: IdpInstance, self?: WireUser): void {
  const others = [...users.values()].filter((user) => user !== self)
  const owned = new Set(others.flatMap(identifiersOf).map(String))
  for (const identifier of identifiersOf(buildUser(fields, 0))) {
    if (owned.has(String(identifier))) throw refusals.taken(identifier[0])
    owned.add(String(identifier))
  }
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
