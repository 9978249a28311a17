/** The organization endpoints, with the provider's checks. */
import { readBody } from './body.ts'
import type { EndpointCall, IdpInstance } from './instance.ts'
import { checkParameters, readBoolean, readPage, sort } from './query.ts'
import { newOrganizationFields, type WireOrganization } from './records.ts'
import { Refusal, reason, refusals, withUndocumented } from './refusals.ts'

const parameters = ['limit', 'offset', 'query', 'include_members_count', 'order_by']

/** `GET /organizations` */
export function listOrganizations({ instance, query }: EndpointCall): object {
  checkEnabled(instance)
  checkParameters(query, parameters)
  const { limit, offset } = readPage(query)
  const withCount = readBoolean(query, 'include_members_count')
  const text = query.get('query') ?? ''
  const countMembers = ({ id }: WireOrganization) => instance.members.get(id)?.size ?? 0

  const found = [...instance.organizations.values()].filter((organization) => matches(organization, text))
  const sorted = sort(found, query, {
    name: ({ name }) => name,
    created_at: ({ created_at }) => created_at,
    members_count: countMembers,
  })
  const data = sorted
    .slice(offset, offset + limit)
    .map((one) => withUndocumented(withCount ? { ...one, members_count: countMembers(one) } : one))
  return { data, total_count: found.length }
}

function matches({ id, name, slug }: WireOrganization, text: string): boolean {
  const wanted = text.toLowerCase()
  return id === text || name.toLowerCase().includes(wanted) || slug.includes(wanted)
}

/** `POST /organizations` */
export function createOrganization({ instance, request }: EndpointCall): object {
  checkEnabled(instance)
  const fields = readBody(request, newOrganizationFields)
  if (fields.name.trim() === '') throw refusals.parameter('form_param_nil', 'name', 'Enter name.')
  if (fields.slug && isTaken(fields.slug, instance)) throw refusals.taken('slug')
  const slug = fields.slug || newSlug(fields.name, instance)
  return withUndocumented(instance.createOrganization({ ...fields, slug }))
}

function checkEnabled({ settings }: IdpInstance): void {
  if (settings.organizationsEnabled) return
  const message =
    'The organizations feature is not enabled for this instance. You can enable it at https://dashboard.clerk.com.'
  throw new Refusal(403, reason('organization_not_enabled_in_instance', 'access denied', message))
}

function newSlug(name: string, instance: IdpInstance): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? ['organization']
  return `${words.join('-')}-${instance.organizations.size + 1}`
}

function isTaken(slug: string, { organizations }: IdpInstance): boolean {
  return [...organizations.values()].some((organization) => organization.slug === slug)
}
