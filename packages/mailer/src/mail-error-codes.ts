import type { ErrorCode } from '@org/core/errors'

/** The codes that a failure of the mailer can have. */
export const mailErrorCodes = [
  'invalid_arguments',
  'missing_credentials',
  'credentials_rejected',
  'provider_rejected',
  'provider_rate_limited',
  'provider_error',
  'provider_timeout',
  'aborted',
  'outcome_unknown',
  'overloaded',
  'internal_error',
] as const satisfies readonly ErrorCode[]

/** The codes that a `MailError` and the result of a message can have. */
export type MailErrorCode = (typeof mailErrorCodes)[number]

/** @returns `undefined` for a code that only a host has */
export function toMailErrorCode(code: ErrorCode): MailErrorCode | undefined {
  return mailErrorCodes.find((known) => known === code)
}
