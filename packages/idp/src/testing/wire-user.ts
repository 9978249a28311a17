/**
 * A user as the provider keeps and answers it.
 *
 * @module
 */
import { newId } from './random.ts'
import type { NewUser } from './user-fields.ts'

/** How an email address or a phone number was verified; `null` where it is reserved only. */
export interface WireVerification {
  object: 'verification_admin'
  status: 'verified'
  strategy: 'admin'
  attempts: null
  expire_at: null
}

/** One email address of a user. */
export interface WireEmailAddress {
  id: string
  object: 'email_address'
  email_address: string
  reserved: boolean
  verification: WireVerification | null
  linked_to: object[]
  matches_sso_connection: boolean
  created_at: number
  updated_at: number
}

/** One phone number of a user. */
export interface WirePhoneNumber {
  id: string
  object: 'phone_number'
  phone_number: string
  reserved_for_second_factor: boolean
  default_second_factor: boolean
  reserved: boolean
  verification: WireVerification | null
  linked_to: object[]
  backup_codes: null
  created_at: number
  updated_at: number
}

/** One wallet of a user. */
export interface WireWallet {
  id: string
  object: 'web3_wallet'
  web3_wallet: string
  verification: WireVerification | null
  created_at: number
  updated_at: number
}

/** Metadata: any JSON object. */
export type WireMetadata = Record<string, unknown>

/** A user. Times are Unix milliseconds. */
export interface WireUser {
  id: string
  object: 'user'
  external_id: string | null
  primary_email_address_id: string | null
  primary_phone_number_id: string | null
  primary_web3_wallet_id: string | null
  username: string | null
  first_name: string | null
  last_name: string | null
  locale: string | null
  profile_image_url: string
  image_url: string
  has_image: boolean
  public_metadata: WireMetadata
  private_metadata: WireMetadata | null
  unsafe_metadata: WireMetadata
  email_addresses: WireEmailAddress[]
  phone_numbers: WirePhoneNumber[]
  web3_wallets: WireWallet[]
  passkeys: object[]
  password_enabled: boolean
  two_factor_enabled: boolean
  totp_enabled: boolean
  backup_code_enabled: boolean
  mfa_enabled_at: number | null
  mfa_disabled_at: number | null
  password_last_updated_at: number | null
  external_accounts: object[]
  saml_accounts: object[]
  enterprise_accounts: object[]
  last_sign_in_at: number | null
  banned: boolean
  locked: boolean
  deprovisioned: boolean
  lockout_expires_in_seconds: number | null
  verification_attempts_remaining: number | null
  created_at: number
  updated_at: number
  delete_self_enabled: boolean
  create_organization_enabled: boolean
  create_organizations_limit: number | null
  last_active_at: number | null
  legal_accepted_at: number | null
  bypass_client_trust: boolean
}

/**
 * Makes a user of the fields of a create, unchecked.
 *
 * @param at Unix milliseconds
 */
export function buildUser(fields: NewUser, at: number): WireUser {
  const addresses = fields.email_address?.map((address, index) =>
    buildEmailAddress(address, fields.email_address_identification_status?.[index] === 'reserved', at),
  )
  const numbers = fields.phone_number?.map((number, index) =>
    buildPhoneNumber(number, fields.phone_number_identification_status?.[index] === 'reserved', at),
  )
  const wallets = fields.web3_wallet?.map((wallet) => buildWallet(wallet, at))
  const hasPassword = Boolean(fields.password ?? fields.password_digest)
  return {
    id: newId('user'),
    object: 'user',
    external_id: fields.external_id ?? null,
    primary_email_address_id: addresses?.[0]?.id ?? null,
    primary_phone_number_id: numbers?.[0]?.id ?? null,
    primary_web3_wallet_id: wallets?.[0]?.id ?? null,
    username: fields.username?.toLowerCase() || null,
    first_name: fields.first_name ?? null,
    last_name: fields.last_name ?? null,
    locale: fields.locale ?? null,
    profile_image_url: 'https://img.idp.invalid/default',
    image_url: 'https://img.idp.invalid/default',
    has_image: false,
    public_metadata: fields.public_metadata ?? {},
    private_metadata: fields.private_metadata ?? {},
    unsafe_metadata: fields.unsafe_metadata ?? {},
    email_addresses: addresses ?? [],
    phone_numbers: numbers ?? [],
    web3_wallets: wallets ?? [],
    passkeys: [],
    password_enabled: hasPassword,
    two_factor_enabled: Boolean(fields.totp_secret),
    totp_enabled: Boolean(fields.totp_secret),
    backup_code_enabled: Boolean(fields.backup_codes?.length),
    mfa_enabled_at: null,
    mfa_disabled_at: null,
    password_last_updated_at: hasPassword ? at : null,
    external_accounts: [],
    saml_accounts: [],
    enterprise_accounts: [],
    last_sign_in_at: null,
    banned: fields.banned ?? false,
    locked: fields.locked ?? false,
    deprovisioned: false,
    lockout_expires_in_seconds: null,
    verification_attempts_remaining: 100,
    created_at: toMilliseconds(fields.created_at) ?? at,
    updated_at: at,
    delete_self_enabled: fields.delete_self_enabled ?? true,
    create_organization_enabled: fields.create_organization_enabled ?? true,
    create_organizations_limit: fields.create_organizations_limit ?? null,
    last_active_at: null,
    legal_accepted_at: toMilliseconds(fields.legal_accepted_at) ?? null,
    bypass_client_trust: fields.bypass_client_trust ?? false,
  }
}

/** @param time RFC 3339 */
export function toMilliseconds(time: string | null | undefined): number | undefined {
  return time ? Date.parse(time) : undefined
}

const byAdmin: WireVerification = {
  object: 'verification_admin',
  status: 'verified',
  strategy: 'admin',
  attempts: null,
  expire_at: null,
}

function buildEmailAddress(address: string, reserved: boolean, at: number): WireEmailAddress {
  return {
    id: newId('idn'),
    object: 'email_address',
    email_address: address.toLowerCase(),
    reserved,
    verification: reserved ? null : { ...byAdmin },
    linked_to: [],
    matches_sso_connection: false,
    created_at: at,
    updated_at: at,
  }
}

function buildPhoneNumber(number: string, reserved: boolean, at: number): WirePhoneNumber {
  return {
    id: newId('idn'),
    object: 'phone_number',
    phone_number: number,
    reserved_for_second_factor: false,
    default_second_factor: false,
    reserved,
    verification: reserved ? null : { ...byAdmin },
    linked_to: [],
    backup_codes: null,
    created_at: at,
    updated_at: at,
  }
}

function buildWallet(wallet: string, at: number): WireWallet {
  return {
    id: newId('idn'),
    object: 'web3_wallet',
    web3_wallet: wallet.toLowerCase(),
    verification: { ...byAdmin },
    created_at: at,
    updated_at: at,
  }
}
