import type { ErrorCode } from './errors.ts'

/** The title of each code that a webhook answers with. Clients, which have no titles, may throw `aborted`, too. */
export const titles: Readonly<Record<Exclude<ErrorCode, 'aborted'>, string>> = {
  invalid_json: 'The body is not valid JSON',
  invalid_event: 'The event is invalid',
  invalid_signature: 'The signature is invalid',
  not_found: 'Not found',
  unknown_function: 'The function is unknown',
  method_not_allowed: 'Method not allowed',
  delivery_in_progress: 'The delivery is in progress',
  outcome_unknown: 'The outcome is unknown',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'The media type is not supported',
  invalid_inputs: 'The deployment inputs are invalid',
  invalid_arguments: 'The arguments are invalid',
  missing_credentials: 'Credentials are missing',
  credentials_rejected: 'The provider rejected the credentials',
  provider_rejected: 'The provider rejected the request',
  deployment_deleted: 'The deployment was deleted',
  provider_rate_limited: 'The provider’s rate limit is exceeded',
  internal_error: 'Internal error',
  provider_error: 'The provider failed',
  platform_unavailable: 'The platform is unavailable',
  shutting_down: 'The host is shutting down',
  overloaded: 'The host is overloaded',
  provider_timeout: 'The provider did not answer in time',
}

/** The codes that a webhook answers with. */
export const codes = Object.keys(titles).filter((code): code is keyof typeof titles => code in titles)
