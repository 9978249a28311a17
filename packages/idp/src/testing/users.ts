/**
 * The endpoints of one user.
 *
 * @module
 */
import type { EmulatedRequest } from '@org/core/testing'
import { readBody } from './body.ts'
import type { IdpInstance } from './instance.ts'
import { refusals, withUndocumented } from './refusals.ts'
import { checkNewUser, checkUserChange } from './user-checks.ts'
import { newUserFields, type UserChange, userChangeFields, userMetadataFields } from './user-fields.ts'
import { buildUser, toMilliseconds, type WireMetadata, type WireUser } from './wire-user.ts'

/** `POST /users` */
export function createUser(instance: IdpInstance, request: EmulatedRequest, at: number): object {
  const fields = readBody(request, newUserFields)
  checkNewUser(fields, instance)
  const user = buildUser(fields, at)
  instance.users.set(user.id, user)
  return describeUser(user)
}

/** `GET /users/{id}` */
export function getUser(instance: IdpInstance, id: string): object {
  return describeUser(findUser(instance, id))
}

/** `PATCH /users/{id}` */
export function updateUser(instance: IdpInstance, id: string, request: EmulatedRequest, at: number): object {
  const user = findUser(instance, id)
  const fields = readBody(request, userChangeFields)
  checkUserChange(fields, instance, user)
  change(user, fields, at)
  return describeUser(user)
}

/** `PATCH /users/{id}/metadata` */
export function mergeMetadata(
  instance: IdpInstance,
  id: string,
  request: EmulatedRequest,
  at: number,
): object {
  const user = findUser(instance, id)
  const fields = readBody(request, userMetadataFields)
  user.public_metadata = merge(user.public_metadata, fields.public_metadata ?? {})
  user.private_metadata = merge(user.private_metadata ?? {}, fields.private_metadata ?? {})
  user.unsafe_metadata = merge(user.unsafe_metadata, fields.unsafe_metadata ?? {})
  user.updated_at = at
  return describeUser(user)
}

/** `DELETE /users/{id}` */
export function deleteUser(instance: IdpInstance, id: string): object {
  findUser(instance, id)
  instance.users.delete(id)
  for (const members of instance.members.values()) members.delete(id)
  return withUndocumented({ object: 'user', id, deleted: true })
}

/** A user, as it is answered. */
export function describeUser(user: WireUser): object {
  return withUndocumented(user)
}

function findUser({ users }: IdpInstance, id: string): WireUser {
  const user = users.get(id)
  if (!user) throw refusals.notFound(`No user was found with id ${id}`)
  return user
}

// Every field of the kept user that a change may set, where the names are the same.
const plainFields = [
  'external_id',
  'first_name',
  'last_name',
  'locale',
  'primary_email_address_id',
  'primary_phone_number_id',
  'primary_web3_wallet_id',
  'create_organizations_limit',
] as const
const flags = ['delete_self_enabled', 'create_organization_enabled', 'bypass_client_trust'] as const

function change(user: WireUser, fields: UserChange, at: number): void {
  for (const name of plainFields)
    Object.assign(user, fields[name] === undefined ? {} : { [name]: fields[name] })
  for (const name of flags) user[name] = fields[name] ?? user[name]
  if (fields.username !== undefined) user.username = fields.username?.toLowerCase() || null
  if (fields.password || fields.password_digest) {
    user.password_enabled = true
    user.password_last_updated_at = at
  }
  user.legal_accepted_at = toMilliseconds(fields.legal_accepted_at) ?? user.legal_accepted_at
  user.created_at = toMilliseconds(fields.created_at) ?? user.created_at
  user.updated_at = at
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
