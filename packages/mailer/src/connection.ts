/**
 * Selects the mail server for an event: the deployment’s own, or the shared one.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError } from '@org/core'
import { readJson } from '@org/core/http'
import { createClient, DEFAULT_MESSAGE_STREAM, type MailClient } from './client.ts'
import { mailer } from './integration.ts'
import { createBatchMemory } from './memory.ts'

/** How the host reads responses, and how much of a batch it composes for a call, in bytes. */
const HOST = { readJson, callBytes: 2_000_000 }
/**
 * Makes the memory for the calls of batches: 24 MB for all, and 8 MB for one owner. A server that a deployment brings may
 * read slowly: that must not hold up calls to the host’s own provider.
 */
export function createHostMemory() {
  const create = () => createBatchMemory(24_000_000, 8_000_000)
  return { own: create(), deployments: create() }
}

/** The host’s configuration of the mailer, for all deployments. */
export interface MailerSettings {
  /** The platform’s own mail server: for deployments with serverType shared, and for events without a deployment. */
  shared?: { apiToken?: string | undefined; fromEmail?: string | undefined } | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
}

/** The settings of one host. */
export interface HostSettings extends MailerSettings {
  baseUrl: string
  memory: ReturnType<typeof createHostMemory>
}

/** A mail server, and the defaults of its messages. */
export interface Connection {
  apiToken: string
  fromEmail: string | undefined
  messageStream: string
  baseUrl: string
}

/**
 * The connection that a deployment’s inputs describe.
 *
 * @throws {IntegrationError} `missing_credentials`
 */
export function fromInputs(inputs: Inputs<typeof mailer>, settings: HostSettings): Connection {
  const { serverType, apiToken, fromEmail, messageStream, baseUrl } = inputs
  if (serverType === 'dedicated') {
    if (!apiToken)
      throw inputError('missing_credentials', 'apiToken', 'is required with serverType dedicated')
    return { apiToken, fromEmail, messageStream, baseUrl: baseUrl ?? settings.baseUrl }
  }
  const shared = sharedConnection(settings)
  return { ...shared, messageStream, fromEmail: fromEmail || shared.fromEmail }
}

/**
 * Makes the client for an event: with the deployment’s outputs, else with its inputs, or with the shared token
 * if the event names no deployment.
 */
export async function connect(context: HandlerContext, settings: HostSettings): Promise<MailClient> {
  const { deployment } = context
  if (!deployment) return openMailer(sharedConnection(settings), context, settings)
  const outputs = await deployment.outputs(mailer.outputs, { inputsSuffice: true })
  if (!outputs)
    return openMailer(fromInputs(await deployment.inputs(mailer.inputs), settings), context, settings)
  const { apiToken, fromEmail, messageStream, apiUrl } = outputs
  return openMailer({ apiToken, fromEmail, messageStream, baseUrl: apiUrl }, context, settings)
}

/** Makes a client whose every call fails with the error, and sends nothing. */
export function createRefusingClient(error: unknown): MailClient {
  const fromEmail = 'none@none.invalid'
  return createClient({ apiToken: 'none', fromEmail, fetch: () => Promise.reject(error) }, HOST)
}

/**
 * Makes the client for a connection. A base URL other than the host’s, also one with another path at the same server,
 * must pass the host’s egress rule.
 *
 * @throws {IntegrationError} `invalid_inputs` if the egress rule refuses the base URL
 */
export function openMailer(
  connection: Connection,
  { fetch, egress, deployment }: HandlerContext,
  settings: HostSettings,
): MailClient {
  const { own, deployments } = settings.memory
  const host = { ...HOST, owner: deployment?.owner ?? '' }
  // The shared token is sent only to its own provider, whatever an event says.
  const isShared = connection.apiToken === settings.shared?.apiToken
  const url = new URL(isShared ? settings.baseUrl : connection.baseUrl)
  if (withSlash(url) === withSlash(new URL(settings.baseUrl)))
    return createClient({ ...connection, baseUrl: settings.baseUrl, fetch }, { ...host, memory: own })
  const refusal = egress.refuse(url)
  if (refusal !== undefined) throw inputError('invalid_inputs', 'baseUrl', refusal)
  return createClient({ ...connection, fetch: egress.fetch }, { ...host, memory: deployments })
}

function withSlash({ href }: URL): string {
  return href.endsWith('/') ? href : `${href}/`
}

function sharedConnection({ shared, baseUrl }: HostSettings): Connection {
  const { apiToken, fromEmail } = shared ?? {}
  if (apiToken)
    return { apiToken, fromEmail: fromEmail || undefined, messageStream: DEFAULT_MESSAGE_STREAM, baseUrl }
  throw new IntegrationError('missing_credentials', 'This host has no shared mail server.', {
    hint: 'Set MAILER_SHARED_API_TOKEN on the host, or use serverType dedicated with your own token.',
  })
}

function inputError(
  code: 'missing_credentials' | 'invalid_inputs',
  input: string,
  message: string,
): IntegrationError {
  const path = `deployment.inputs.${input}`
  return new IntegrationError(code, `${path} ${message}.`, { errors: [{ path, message }] })
}
