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
import { Refusal, reason, refusals, withUndocumented } from './refusals.ts'

const leakedPasswords = new Set(['password', 'password1', 'password123', '12345678', '123456789', 'qwertyui'])

/** `POST /users` */
export function createUser({ instance, request, at }: EndpointCall): object {
  const fields = readBody(request, newUserFields)
  checkIdentifiers(fields)
  checkCredentials(fields)
  checkComplete(fields, instance)
  checkUnique(fields, instance)
  const { maxUsers } = instance.settings
  if (maxUsers !== undefined && instance.users.size >= maxUsers) {
    const message = `You have reached your limit of ${maxUsers} users.`
    throw new Refusal(403, reason('user_quota_exceeded', 'user quota exceeded', message))
  }
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
  checkCredentials({ password, username, skip_password_checks, ...fields })
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

function checkIdentifiers({ email_address = [], phone_number = [] }: NewUser): void {
  const isAddress = (text: string) => /^[^\s@<>"(),:;[\]\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text)
  if (!email_address.every(isAddress)) {
    throw refusals.wrongFormat('email_address', 'email_address must be a valid email address.')
  }
  if (!phone_number.every((text) => /^\+[1-9]\d{6,14}$/.test(text))) {
    const message = 'phone_number must be a valid phone number according to E.164 international standard.'
    throw refusals.wrongFormat('phone_number', message)
  }
}

function checkCredentials(fields: NewUser): void {
  const { username, password, password_digest, password_hasher, skip_password_checks } = fields
  if (Boolean(password_digest) !== Boolean(password_hasher)) {
    const missing = password_digest ? 'password_hasher' : 'password_digest'
    throw refusals.parameter('form_param_missing', missing, 'is missing', `${missing} must be included.`)
  }
  if (username && !/^(?=.*\D)[\w-]{4,64}$/.test(username)) {
    const message = "Username can only contain letters, numbers and '_' or '-'."
    throw refusals.parameter('form_username_invalid_character', 'username', message)
  }
  if (!password || skip_password_checks) return
  if (password.length < 8) {
    const message = 'Passwords must be 8 characters or more.'
    throw refusals.parameter('form_password_length_too_short', 'password', message)
  }
  if (leakedPasswords.has(password.toLowerCase())) {
    const message =
      'Password has been found in an online data breach. For account safety, please use a different password.'
    throw refusals.parameter('form_password_pwned', 'password', message)
  }
}

function checkComplete(fields: NewUser, { settings }: IdpInstance): void {
  const isIdentified = fields.email_address?.length || fields.phone_number?.length || fields.username
  const hasPassword =
    fields.password ||
    fields.password_digest ||
    fields.skip_password_requirement ||
    !settings.passwordRequired
  const missing = [...(isIdentified ? [] : ['email_address']), ...(hasPassword ? [] : ['password'])]
  if (missing.length === 0) return
  const message = `${JSON.stringify(missing)} data doesn't match user requirements set for this instance`
  const error = { ...reason('form_data_missing', 'missing data', message), meta: { param_names: missing } }
  throw new Refusal(422, error)
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
