/** What failures of the Platform API mean. The API is a beta: if it may not be enabled for the workspace, the error says so. */
import { type IntegrationError, isIntegrationError } from '@org/core/errors'
import type { Provider } from '@org/core/http'
import { wireErrorsFor } from '@org/idp/api'

/** Advice for statuses of the Platform API. */
const hints: Record<number, string> = {
  402: 'The plan of the workspace does not include this. The Platform API is a beta, which the provider enables on request.',
  403: 'The token lacks a permission: check its scopes (applications:manage), and whether the Platform API beta is enabled for the workspace.',
  404: 'The application is gone, the Platform API beta is not enabled for the workspace, or the base URL is wrong.',
}

const wireErrors = wireErrorsFor(['environmentTypes'])

/** The provider, as errors name it. */
export const provider: Provider = {
  name: 'idp-server',
  title: 'The identity provider’s Platform API',
  credentials: {
    title: 'Platform API access token',
    missingHint: 'Pass it as platformApiKey.',
    rejectedHint:
      'Check the Platform API access token, which is not the secret key of an instance. The Platform API is a beta: the provider may have to enable it for the workspace first.',
  },
  // An application that nobody has: its 404 is the answer.
  probe: { path: '/platform/applications/app_none', isAnswer: () => false },
  isOwnForm: (body) => wireErrors.safeParse(body).success,
  readFailure({ body, status }) {
    const words = wireErrors.safeParse(body).data
    return { ...words, hint: status === undefined ? undefined : hints[status] }
  },
}

/**
 * Tells whether the provider has no such application. Its 404 has a code: that of a proxy or of a wrong base URL
 * has none.
 */
export function isNotFound(error: unknown): error is IntegrationError {
  return isIntegrationError(error) && error.provider?.status === 404 && error.provider.code !== undefined
}
