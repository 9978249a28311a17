/**
 * From the provider's failures to the error family. The Platform API is a beta: where it is not enabled, that
 * is what the error says.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '@org/core/errors'
import { HttpFailure, toProviderError, unknownOutcome } from '@org/core/http'
import { wireErrors } from './wire.ts'

const CREDENTIALS_HINT =
  'Check the Platform API access token: it is another one than an instance’s secret key. The Platform API is a beta, which the provider may have to enable for the workspace first.'

/** What a status of the Platform API means beyond what the provider says. */
const hints: Record<number, string> = {
  402: 'The workspace’s plan does not include this: the Platform API is a beta, which the provider enables on request.',
  403: 'The token may not do this: check its scopes (applications:manage), and that the Platform API beta is enabled for the workspace.',
  404: 'Unless the application itself is gone, the Platform API beta is not enabled for the workspace, or the base URL is wrong.',
}

/**
 * The error for a call that failed.
 *
 * @param effect what the call may have done, for example `the application was created`
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

/** The error for a success whose body is not what the provider promises. */
export function notUnderstood(status: number, effect: string | undefined): IntegrationError {
  const provider = { name: 'idp-server', status }
  const reason = 'The Platform API’s answer could not be understood.'
  return effect
    ? unknownOutcome(`It is not known whether ${effect}: ${reason}`, { provider })
    : new IntegrationError('provider_error', reason, { hint: 'Check the base URL.', provider })
}

/** The error for a token that can’t be one. */
export function missingToken(): IntegrationError {
  const message = 'The Platform API access token is missing, or holds a character that no token can have.'
  return new IntegrationError('missing_credentials', message, { hint: 'Pass it as platformApiKey.' })
}

/**
 * Whether a call failed because the provider has no such application: it said so itself, which a wrong base
 * URL, or a page in between, does not.
 */
export function isNotFound(error: unknown): error is IntegrationError {
  return isIntegrationError(error) && error.provider?.status === 404 && error.provider.code !== undefined
}
