/**
 * An organization as the provider keeps and answers it.
 *
 * @module
 */
import * as z from 'zod'
import { newId } from './random.ts'
import { metadata } from './user-fields.ts'
import { toMilliseconds, type WireMetadata } from './wire-user.ts'

const MEMBERSHIPS_DEFAULT = 5

/** `POST /organizations` */
export const newOrganizationFields = z.strictObject({
  name: z.string(),
  created_by: z.string().nullable().optional(),
  private_metadata: metadata.nullable().optional(),
  public_metadata: metadata.nullable().optional(),
  slug: z.string().nullable().optional(),
  max_allowed_memberships: z.int().min(0).nullable().optional(),
  created_at: z.iso.datetime({ offset: true }).nullable().optional(),
  role_set_key: z.string().nullable().optional(),
})

/** What an organization is created of. */
export type NewOrganization = z.output<typeof newOrganizationFields>

/** An organization, without the number of its members. Times are Unix milliseconds. */
export interface WireOrganization {
  object: 'organization'
  id: string
  name: string
  slug: string
  image_url: string
  has_image: boolean
  max_allowed_memberships: number
  admin_delete_enabled: boolean
  public_metadata: WireMetadata
  private_metadata: WireMetadata
  /** Absent where no one is known. */
  created_by?: string
  created_at: number
  updated_at: number
  role_set_key: string | null
}

/**
 * Makes an organization of the fields of a create, unchecked.
 *
 * @param at Unix milliseconds
 */
export function buildOrganization(fields: NewOrganization & { slug: string }, at: number): WireOrganization {
  return {
    object: 'organization',
    id: newId('org'),
    name: fields.name,
    slug: fields.slug,
    image_url: 'https://img.idp.invalid/default',
    has_image: false,
    max_allowed_memberships: fields.max_allowed_memberships ?? MEMBERSHIPS_DEFAULT,
    admin_delete_enabled: true,
    public_metadata: fields.public_metadata ?? {},
    private_metadata: fields.private_metadata ?? {},
    ...(fields.created_by ? { created_by: fields.created_by } : {}),
    created_at: toMilliseconds(fields.created_at) ?? at,
    updated_at: at,
    role_set_key: fields.role_set_key ?? null,
  }
}
