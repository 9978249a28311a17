/**
 * The organization endpoints.
 *
 * @module
 */
import type { EmulatedRequest } from '@org/core/testing'
import { readBody } from './body.ts'
import type { IdpInstance } from './instance.ts'
import { readBoolean, readOrder, readPage, readSigned, sortBy } from './query.ts'
import { parameterReason, Refusal, reason, refusals, withUndocumented } from './refusals.ts'
import { newOrganizationFields, type WireOrganization } from './wire-organization.ts'

const NAME_MOST = 256

const orders: Readonly<
  Record<string, (organization: WireOrganization, membersCount: number) => string | number>
> = {
  name: ({ name }) => name,
  created_at: ({ created_at }) => created_at,
  members_count: (_organization, membersCount) => membersCount,
}

/** `GET /organizations` */
export function listOrganizations(instance: IdpInstance, { url: { searchParams } }: EmulatedRequest): object {
  checkEnabled(instance)
  const { limit, offset } = readPage(searchParams)
  const order = readOrder(searchParams, Object.keys(orders))
  const withCount = readBoolean(searchParams, 'include_members_count') ?? false
  const hasMembers = readSigned(searchParams, 'user_id')
  const hasId = readSigned(searchParams, 'organization_id')
  const query = searchParams.get('query') ?? ''

  const membersOf = ({ id }: WireOrganization) => instance.members.get(id) ?? new Set()
  const found = [...instance.organizations.values()].filter(
    (organization) =>
      matches(organization, query) &&
      hasId((id) => organization.id === id) &&
      hasMembers((id) => membersOf(organization).has(id)),
  )
  const key = orders[order.field]
  const sorted = sortBy(found, (one) => key?.(one, membersOf(one).size) ?? null, order.descending)
  const data = sorted
    .slice(offset, offset + limit)
    .map((one) => describe(one, withCount ? membersOf(one).size : undefined))
  return { data, total_count: found.length }
}

function matches({ id, name, slug }: WireOrganization, query: string): boolean {
  const wanted = query.toLowerCase()
  return id === query || name.toLowerCase().includes(wanted) || slug.includes(wanted)
}

/** `POST /organizations` */
export function createOrganization(instance: IdpInstance, request: EmulatedRequest): object {
  checkEnabled(instance)
  const fields = readBody(request, newOrganizationFields)
  checkName(fields.name)
  if (fields.slug) checkSlug(fields.slug, instance)
  if (fields.created_by && !instance.users.has(fields.created_by)) {
    const message = `No users found with id ${fields.created_by}.`
    throw new Refusal(400, reason('organization_creator_not_found', 'creator not found', message))
  }
  const slug = fields.slug || newSlug(fields.name, instance)
  return describe(instance.createOrganization({ ...fields, slug }))
}

function checkEnabled({ settings }: IdpInstance): void {
  if (settings.organizationsEnabled) return
  const message =
    'The organizations feature is not enabled for this instance. You can enable it at https://dashboard.clerk.com.'
  throw new Refusal(403, reason('organization_not_enabled_in_instance', 'access denied', message))
}

function checkName(name: string): void {
  if (name.trim() === '') {
    throw new Refusal(422, parameterReason('form_param_nil', 'name', 'Enter name.'))
  }
  if (name.length > NAME_MOST) {
    const message = `name should not exceed ${NAME_MOST} characters.`
    throw new Refusal(
      422,
      parameterReason('form_param_max_length_exceeded', 'name', 'exceeds maximum length', message),
    )
  }
  if (/[<>]|https?:|www\./i.test(name)) {
    const message = `The organization name ${JSON.stringify(name)} is invalid: it may not contain URLs or HTML`
    throw new Refusal(
      422,
      parameterReason('form_param_value_invalid', 'name', 'invalid organization name', message),
    )
  }
}

function checkSlug(slug: string, instance: IdpInstance): void {
  if (!/^[a-z0-9-]+$/.test(slug)) {
    const allowed = 'slug can contain only lowercase alphanumeric characters and the dash "-".'
    throw refusals.wrongFormat('slug', allowed)
  }
  if (isTaken(slug, instance)) throw refusals.taken('slug')
}

function newSlug(name: string, instance: IdpInstance): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['organization']
  let number = instance.organizations.size + 1
  while (isTaken(`${words.join('-')}-${number}`, instance)) number += 1
  return `${words.join('-')}-${number}`
}

function isTaken(slug: string, { organizations }: IdpInstance): boolean {
  return [...organizations.values()].some((organization) => organization.slug === slug)
}

function describe(organization: WireOrganization, membersCount?: number): object {
  const counted = membersCount === undefined ? organization : { ...organization, members_count: membersCount }
  return withUndocumented(counted)
}
