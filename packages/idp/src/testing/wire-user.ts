/**
 * A user in the provider's format.
 *
 * @module
 */
import { newId } from './random.ts'
import type { NewUser } from './user-fields.ts'

/** Metadata: any JSON object. */
export type WireMetadata = Record<string, unknown>

/** The fields that are the same for every emulated user. */
const constants = {
  object: 'user',
  primary_web3_wallet_id: null,
  locale: null,
  profile_image_url: 'https://img.idp.invalid/default',
  image_url: 'https://img.idp.invalid/default',
  has_image: false,
  web3_wallets: [],
  passkeys: [],
  two_factor_enabled: false,
  totp_enabled: false,
  backup_code_enabled: false,
  mfa_enabled_at: null,
  mfa_disabled_at: null,
  external_accounts: [],
  saml_accounts: [],
  enterprise_accounts: [],
  deprovisioned: false,
  lockout_expires_in_seconds: null,
  verification_attempts_remaining: 100,
  delete_self_enabled: true,
  create_organization_enabled: true,
  create_organizations_limit: null,
  legal_accepted_at: null,
  bypass_client_trust: false,
} as const

/** A user. Times are Unix milliseconds. */
export type WireUser = typeof constants & {
  id: string
  external_id: string | null
  primary_email_address_id: string | null
  primary_phone_number_id: string | null
  username: string | null
  first_name: string | null
  last_name: string | null
  public_metadata: WireMetadata
  private_metadata: WireMetadata
  unsafe_metadata: WireMetadata
  email_addresses: (WireIdentification & { object: 'email_address'; email_address: string })[]
  phone_numbers: (WireIdentification & { object: 'phone_number'; phone_number: string })[]
  password_enabled: boolean
  password_last_updated_at: number | null
  last_sign_in_at: number | null
  last_active_at: number | null
  banned: boolean
  locked: boolean
  created_at: number
  updated_at: number
}

type WireIdentification = ReturnType<typeof buildIdentification>

/**
 * Makes a user from the fields of a create, without checks.
 *
 * @param at Unix milliseconds
 */
export function buildUser(fields: NewUser, at: number): WireUser {
  const addresses = (fields.email_address ?? []).map((address) => ({
    ...buildIdentification(at),
    object: 'email_address' as const,
    email_address: address.toLowerCase(),
  }))
  const numbers = (fields.phone_number ?? []).map((number) => ({
    ...buildIdentification(at),
    object: 'phone_number' as const,
    phone_number: number,
  }))
  return {
    ...constants,
    id: newId('user'),
    external_id: fields.external_id ?? null,
    primary_email_address_id: addresses[0]?.id ?? null,
    primary_phone_number_id: numbers[0]?.id ?? null,
    username: fields.username?.toLowerCase() || null,
    first_name: fields.first_name ?? null,
    last_name: fields.last_name ?? null,
    public_metadata: fields.public_metadata ?? {},
    private_metadata: fields.private_metadata ?? {},
    unsafe_metadata: fields.unsafe_metadata ?? {},
    email_addresses: addresses,
    phone_numbers: numbers,
    password_enabled: Boolean(fields.password),
    password_last_updated_at: fields.password ? at : null,
    last_sign_in_at: null,
    last_active_at: null,
    banned: fields.banned ?? false,
    locked: fields.locked ?? false,
    created_at: at,
    updated_at: at,
  }
}

function buildIdentification(at: number) {
  return {
    id: newId('idn'),
    reserved: false,
    verification: {
      object: 'verification_admin',
      status: 'verified',
      strategy: 'admin',
      attempts: null,
      expire_at: null,
    },
    linked_to: [],
    created_at: at,
    updated_at: at,
  } as const
}
