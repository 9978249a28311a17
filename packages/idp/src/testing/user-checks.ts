/**
 * What the provider checks of a user's fields.
 *
 * @module
 */
import { unknownParameter } from './body.ts'
import type { IdpInstance } from './instance.ts'
import { parameterReason, Refusal, reason, refusals } from './refusals.ts'
import type { NewUser, UserChange } from './user-fields.ts'
import type { WireUser } from './wire-user.ts'

const PASSWORD_LEAST = 8
const PASSWORD_MOST = 72
const USERNAME_LEAST = 4
const USERNAME_MOST = 64

const leakedPasswords = new Set(['password', 'password1', 'password123', '12345678', '123456789', 'qwertyui'])

/** @throws {Refusal} where no such user can be created */
export function checkNewUser(fields: NewUser, instance: IdpInstance): void {
  checkEnabled(fields, instance)
  checkStatuses(fields, 'email_address')
  checkStatuses(fields, 'phone_number')
  for (const address of fields.email_address ?? []) checkEmailAddress(address)
  for (const number of fields.phone_number ?? []) checkPhoneNumber(number)
  checkCommon(fields)
  checkComplete(fields, instance)
  checkUnique(fields, instance)
  const { maxUsers } = instance.settings
  if (maxUsers !== undefined && instance.users.size >= maxUsers) {
    const message = `You have reached your limit of ${maxUsers} users.`
    throw new Refusal(403, reason('user_quota_exceeded', 'user quota exceeded', message))
  }
}

/** @throws {Refusal} where the user can't be changed so */
export function checkUserChange(fields: UserChange, instance: IdpInstance, user: WireUser): void {
  checkEnabled(fields, instance)
  checkCommon(fields)
  checkUnique(fields, instance, user)
  checkPrimary('primary_email_address_id', fields.primary_email_address_id, user.email_addresses)
  checkPrimary('primary_phone_number_id', fields.primary_phone_number_id, user.phone_numbers)
  checkPrimary('primary_web3_wallet_id', fields.primary_web3_wallet_id, user.web3_wallets)
  for (const parameter of ['skip_password_checks', 'sign_out_of_other_sessions'] as const) {
    if (fields[parameter] && !fields.password) throw missingBeside('password', parameter)
  }
}

function checkEnabled(fields: object, { settings }: IdpInstance): void {
  const disabled = Object.keys(fields).filter((name) => settings.disabledFields.includes(name))
  if (disabled.length > 0) throw new Refusal(422, ...disabled.map(unknownParameter))
}

function checkStatuses(fields: NewUser, parameter: 'email_address' | 'phone_number'): void {
  const name = `${parameter}_identification_status` as const
  const statuses = fields[name] ?? []
  if (statuses.length === 0 || statuses.length === fields[parameter]?.length) return
  throw refusals.wrongFormat(name, `${name} must contain one item per ${parameter}.`)
}

function checkEmailAddress(address: string): void {
  if (/^[^\s@<>"(),:;[\]\\]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(address) && address.length <= 254) return
  throw refusals.wrongFormat('email_address', 'email_address must be a valid email address.')
}

function checkPhoneNumber(number: string): void {
  if (/^\+[1-9]\d{6,14}$/.test(number)) return
  const message = 'phone_number must be a valid phone number according to E.164 international standard.'
  throw refusals.wrongFormat('phone_number', message)
}

function checkCommon(fields: NewUser | UserChange): void {
  if (fields.username) checkUsername(fields.username)
  if (fields.password && !fields.skip_password_checks) checkPassword(fields.password)
  if (fields.password_digest && !fields.password_hasher)
    throw missingBeside('password_hasher', 'password_digest')
  if (fields.password_digest && fields.password) throw refusals.notTogether('password', 'password_digest')
}

function checkUsername(username: string): void {
  if (username.length < USERNAME_LEAST || username.length > USERNAME_MOST) {
    const message = `Username must be between ${USERNAME_LEAST} and ${USERNAME_MOST} characters long.`
    throw new Refusal(422, parameterReason('form_username_invalid_length', 'username', message))
  }
  if (!/^[\w-]+$/.test(username)) {
    const message = "Username can only contain letters, numbers and '_' or '-'."
    throw new Refusal(422, parameterReason('form_username_invalid_character', 'username', message))
  }
  if (/^\d+$/.test(username)) {
    const message = 'Username must contain one non-number character.'
    throw new Refusal(422, parameterReason('form_username_needs_non_number_char', 'username', message))
  }
}

function checkPassword(password: string): void {
  if (password.length < PASSWORD_LEAST) {
    const message = `Passwords must be ${PASSWORD_LEAST} characters or more.`
    throw new Refusal(422, parameterReason('form_password_length_too_short', 'password', message))
  }
  if (password.length >= PASSWORD_MOST) {
    const message = `Passwords must be less than ${PASSWORD_MOST} characters.`
    throw new Refusal(422, parameterReason('form_password_length_too_long', 'password', message))
  }
  if (leakedPasswords.has(password.toLowerCase())) {
    const message =
      'Password has been found in an online data breach. For account safety, please use a different password.'
    throw new Refusal(422, parameterReason('form_password_pwned', 'password', message))
  }
}

function checkComplete(fields: NewUser, { settings }: IdpInstance): void {
  const missing: string[] = []
  const isIdentified =
    fields.email_address?.length ||
    fields.phone_number?.length ||
    fields.web3_wallet?.length ||
    fields.username
  if (!isIdentified && !fields.skip_user_requirement) missing.push('email_address')
  const hasPassword = fields.password || fields.password_digest || fields.skip_password_requirement
  if (settings.passwordRequired && !hasPassword) missing.push('password')
  if (missing.length === 0) return
  const message = `${JSON.stringify(missing)} data doesn't match user requirements set for this instance`
  throw new Refusal(422, {
    ...reason('form_data_missing', 'missing data', message),
    meta: { param_names: missing },
  })
}

function checkUnique(fields: NewUser & UserChange, { users }: IdpInstance, self?: WireUser): void {
  const wanted = {
    email_address: fields.email_address?.map((address) => address.toLowerCase()) ?? [],
    phone_number: fields.phone_number ?? [],
    web3_wallet: fields.web3_wallet?.map((wallet) => wallet.toLowerCase()) ?? [],
    username: fields.username ? [fields.username.toLowerCase()] : [],
    external_id: fields.external_id ? [fields.external_id] : [],
  }
  for (const [parameter, values] of Object.entries(wanted)) {
    if (new Set(values).size < values.length) throw refusals.taken(parameter)
  }
  for (const user of users.values()) {
    if (user === self) continue
    const owned = identifiersOf(user)
    for (const [parameter, values] of Object.entries(wanted)) {
      if (values.some((value) => owned.includes(`${parameter} ${value}`))) throw refusals.taken(parameter)
    }
  }
}

function identifiersOf(user: WireUser): string[] {
  return [
    ...user.email_addresses.map(({ email_address }) => `email_address ${email_address}`),
    ...user.phone_numbers.map(({ phone_number }) => `phone_number ${phone_number}`),
    ...user.web3_wallets.map(({ web3_wallet }) => `web3_wallet ${web3_wallet}`),
    `username ${user.username ?? ''}`,
    `external_id ${user.external_id ?? ''}`,
  ]
}

function checkPrimary(
  parameter: string,
  id: string | null | undefined,
  owned: readonly { id: string; verification: object | null }[],
): void {
  if (id && !owned.some((one) => one.id === id && one.verification)) throw refusals.missingResource(parameter)
}

function missingBeside(parameter: string, present: string): Refusal {
  const message = `\`${parameter}\` is required when \`${present}\` is present.`
  return new Refusal(422, parameterReason('form_conditional_param_missing', parameter, 'is missing', message))
}
