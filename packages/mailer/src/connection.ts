/**
 * Whose mail server an event is handled with: the deployment's, or the shared one.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError } from '@org/core'
import {
  type CallOptions,
  createMailer,
  DEFAULT_BASE_URL,
  DEFAULT_MESSAGE_STREAM,
  type Mailer,
} from './client.ts'
import { mailer } from './integration.ts'

/** What the host configures for all deployments. */
export interface MailerSettings {
  /** The platform's own mail server, for deployments of the type `shared` and for events without one. */
  shared?: { apiToken?: string | undefined; fromEmail?: string | undefined } | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
}

/** Everything that is needed to send. */
export interface Connection {
  apiToken: string
  fromEmail: string | undefined
  messageStream: string
  baseUrl: string
}

/**
 * The connection that a deployment's inputs describe.
 *
 * @throws {IntegrationError} `missing_credentials`, or `invalid_inputs` where the shared token would leave for
 * a server of the deployment's choice
 */
export function fromInputs(inputs: Inputs<typeof mailer>, settings: MailerSettings): Connection {
  const { messageStream } = inputs
  const hostBaseUrl = settings.baseUrl ?? DEFAULT_BASE_URL
  if (inputs.serverType === 'dedicated') {
    if (!inputs.apiToken) {
      throw new IntegrationError(
        'missing_credentials',
        'A dedicated mail server needs its Server API Token.',
        {
          errors: [
            { path: 'deployment.inputs.apiToken', message: 'is required where serverType is dedicated' },
          ],
        },
      )
    }
    const baseUrl = inputs.baseUrl ?? hostBaseUrl
    return { apiToken: inputs.apiToken, fromEmail: inputs.fromEmail, messageStream, baseUrl }
  }
  if (inputs.baseUrl && new URL(inputs.baseUrl).origin !== new URL(hostBaseUrl).origin) {
    const message = 'goes with serverType dedicated: the shared token is sent to its own provider alone'
    throw new IntegrationError('invalid_inputs', `deployment.inputs.baseUrl ${message}.`, {
      errors: [{ path: 'deployment.inputs.baseUrl', message }],
    })
  }
  return {
    ...sharedConnection(settings),
    messageStream,
    ...(inputs.fromEmail ? { fromEmail: inputs.fromEmail } : {}),
  }
}

/**
 * A client for the event at hand: with what the deployment published, else with its inputs, else, where there
 * is no deployment, with the shared token.
 */
export async function connect(context: HandlerContext<MailerSettings>): Promise<Mailer> {
  const { deployment, settings } = context
  if (!deployment) return openMailer(sharedConnection(settings), context)
  const outputs = await deployment.outputs(mailer.outputs)
  if (!outputs) return openMailer(fromInputs(await deployment.inputs(mailer.inputs), settings), context)
  const { apiToken, fromEmail, messageStream, apiUrl } = outputs
  // The shared token goes to its own provider, whatever an event says.
  const isShared = apiToken === settings.shared?.apiToken
  const baseUrl = isShared ? (settings.baseUrl ?? DEFAULT_BASE_URL) : apiUrl
  return openMailer({ apiToken, fromEmail, messageStream, baseUrl }, context)
}

/**
 * A client for a connection. A base URL that is not the host's own is held to the host's rule for such URLs.
 *
 * @throws {IntegrationError} `invalid_inputs` where the rule refuses it
 */
export function openMailer(connection: Connection, context: HandlerContext<MailerSettings>): Mailer {
  const { fetch, egress, settings } = context
  const url = new URL(connection.baseUrl)
  if (url.origin === new URL(settings.baseUrl ?? DEFAULT_BASE_URL).origin)
    return createMailer({ ...connection, fetch })
  const refusal = egress.refuse(url)
  if (refusal === undefined) return createMailer({ ...connection, fetch: egress.fetch })
  throw new IntegrationError('invalid_inputs', `deployment.inputs.baseUrl ${refusal}.`, {
    errors: [{ path: 'deployment.inputs.baseUrl', message: refusal }],
  })
}

/** An event's deadline, for a call of the client. */
export function callOptions({ signal, deadline }: HandlerContext<MailerSettings>): CallOptions {
  return { signal, timeoutMs: deadline - Date.now() }
}

function sharedConnection({ shared, baseUrl = DEFAULT_BASE_URL }: MailerSettings): Connection {
  if (!shared?.apiToken) {
    throw new IntegrationError('missing_credentials', 'This host has no shared mail server.', {
      hint: 'Set MAILER_SHARED_API_TOKEN on the host, or deploy the mailer with a token of its own.',
    })
  }
  return {
    apiToken: shared.apiToken,
    fromEmail: shared.fromEmail || undefined,
    messageStream: DEFAULT_MESSAGE_STREAM,
    baseUrl,
  }
}
