/**
 * Turns failures of the provider into `IntegrationError`s. The Platform API is a beta: if it may not be enabled
 * for the workspace, the error says so.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireErrors } from './wire.ts'

const CREDENTIALS_HINT =
  'Check the Platform API access token, which is not the secret key of an instance. The Platform API is a beta: the provider may have to enable it for the workspace first.'

/** Advice for statuses of the Platform API. */
const hints: Record<number, string> = {
  402: 'The plan of the workspace does not include this. The Platform API is a beta, which the provider enables on request.',
  403: 'The token lacks a permission: check its scopes (applications:manage), and whether the Platform API beta is enabled for the workspace.',
  404: 'The application is gone, the Platform API beta is not enabled for the workspace, or the base URL is wrong.',
}

/**
 * Makes the error for a failed call.
 *
 * @param effect the possible effect of the call, for example `the application was created`
 */
export function callError(error: unknown, effect: string | undefined): unknown {
  if (!(error instanceof HttpFailure)) return error
  const first = wireErrors.safeParse(error.body).data?.errors[0]
  return toProviderError(error, {
    name: 'idp-server',
    title: 'The identity provider’s Platform API',
    effect,
    code: first?.code,
    message: first?.long_message ?? first?.message,
    hint: error.status === undefined ? undefined : hints[error.status],
    credentialsHint: CREDENTIALS_HINT,
  })
}

/** Makes the error for a successful response with an invalid body. */
export function invalidResponse(status: number, effect: string | undefined): IntegrationError {
  const provider = { name: 'idp-server', status }
  const reason = 'The Platform API sent a response in an unknown format.'
  return effect
    ? unknownOutcome(`It is not known whether ${effect}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/** Makes the error for a token that no HTTP header can hold. */
export function missingToken(): IntegrationError {
  const message = 'The Platform API access token is missing, or contains invalid characters.'
  return new IntegrationError('missing_credentials', message, { hint: 'Pass it as platformApiKey.' })
}

/**
 * Tells whether the provider has no such application. Its 404 has a code: that of a proxy or of a wrong base URL
 * has none.
 */
export function isNotFound(error: unknown): error is IntegrationError {
  return isIntegrationError(error) && error.provider?.status === 404 && error.provider.code !== undefined
}
