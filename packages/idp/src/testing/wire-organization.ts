/**
 * An organization in the provider's format.
 *
 * @module
 */
import * as z from 'zod'
import { newId } from './random.ts'
import { metadata } from './user-fields.ts'
import type { WireMetadata } from './wire-user.ts'

const DEFAULT_MEMBERSHIPS = 5

/** The body of `POST /organizations`, as far as the client uses it. The emulator refuses every other field. */
export const newOrganizationFields = z.strictObject({
  name: z.string(),
  slug: z.string().optional(),
  created_by: z.string().optional(),
  max_allowed_memberships: z.int().min(0).optional(),
  public_metadata: metadata.optional(),
  private_metadata: metadata.optional(),
})

/** The fields of a new organization. */
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
  /** Absent if the provider does not know the creator. */
  created_by?: string
  created_at: number
  updated_at: number
  role_set_key: null
}

/**
 * Makes an organization from the fields of a create, without checks.
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
    max_allowed_memberships: fields.max_allowed_memberships ?? DEFAULT_MEMBERSHIPS,
    admin_delete_enabled: true,
    public_metadata: fields.public_metadata ?? {},
    private_metadata: fields.private_metadata ?? {},
    ...(fields.created_by ? { created_by: fields.created_by } : {}),
    created_at: at,
    updated_at: at,
    role_set_key: null,
  }
}
