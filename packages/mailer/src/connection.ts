/**
 * Selects the mail server for an event: the deployment’s own, or the shared one.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError } from '@org/core'
import { readJson } from '@org/core/http'
import { createClient, DEFAULT_BASE_URL, DEFAULT_MESSAGE_STREAM, type MailClient } from './client.ts'
import { mailer } from './integration.ts'
import { createBatchMemory } from './memory.ts'

/** How the host reads responses, and how much of a batch it composes for a call, in bytes. */
const HOST = { readJson, callBytes: 2_000_000 }
/** The memory for the calls of all batches, and for those of one owner, in bytes. */
const MEMORY = [24_000_000, 8_000_000] as const
/**
 * Makes the memory of a host for the calls of its batches. A server that a deployment brings may read slowly: that must
 * not hold up calls to the host’s own provider.
 */
export const createHostMemory = () => ({
  own: createBatchMemory(...MEMORY),
  deployments: createBatchMemory(...MEMORY),
})

/** The host’s configuration of the mailer, for all deployments. */
export interface MailerSettings {
  /** The platform’s own mail server: for deployments with serverType shared, and for events without a deployment. */
  shared?: { apiToken?: string | undefined; fromEmail?: string | undefined } | undefined
  /** @default 'https://api.postmarkapp.com' */
  baseUrl?: string | undefined
}

/** The settings of one host. */
export interface HostSettings extends MailerSettings {
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
 * @throws {IntegrationError} `missing_credentials`; or `invalid_inputs` for another path at the host’s provider
 */
export function fromInputs(inputs: Inputs<typeof mailer>, settings: MailerSettings): Connection {
  const { serverType, apiToken, fromEmail, messageStream, baseUrl } = inputs
  if (serverType === 'dedicated') {
    const hostBaseUrl = settings.baseUrl ?? DEFAULT_BASE_URL
    const isHosts = baseUrl === undefined || isAtHostsProvider(baseUrl, hostBaseUrl)
    if (!apiToken)
      throw inputError('missing_credentials', 'apiToken', 'is required with serverType dedicated')
    return { apiToken, fromEmail, messageStream, baseUrl: isHosts ? hostBaseUrl : baseUrl }
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
  // The shared token is sent only to its own provider, whatever an event says.
  const isShared = apiToken === settings.shared?.apiToken
  const baseUrl = isShared ? (settings.baseUrl ?? DEFAULT_BASE_URL) : apiUrl
  return openMailer({ apiToken, fromEmail, messageStream, baseUrl }, context, settings)
}

/** Makes a client whose every call fails with the error, and sends nothing. */
export function createRefusingClient(error: unknown): MailClient {
  const fromEmail = 'none@none.invalid'
  return createClient({ apiToken: 'none', fromEmail, fetch: () => Promise.reject(error) }, HOST)
}

/**
 * Makes the client for a connection. A base URL other than the host’s must pass the host’s egress rule.
 *
 * @throws {IntegrationError} `invalid_inputs` if the egress rule refuses the base URL
 */
export function openMailer(
  connection: Connection,
  { fetch, egress, deployment }: HandlerContext,
  settings: HostSettings,
): MailClient {
  const url = new URL(connection.baseUrl)
  const hostBaseUrl = settings.baseUrl ?? DEFAULT_BASE_URL
  const isHosts = url.origin === new URL(hostBaseUrl).origin
  const refusal = isHosts ? undefined : egress.refuse(url)
  if (refusal !== undefined) throw inputError('invalid_inputs', 'baseUrl', refusal)
  const { own, deployments } = settings.memory
  const host = { ...HOST, owner: deployment?.owner ?? '' }
  if (!isHosts) return createClient({ ...connection, fetch: egress.fetch }, { ...host, memory: deployments })
  return createClient({ ...connection, baseUrl: hostBaseUrl, fetch }, { ...host, memory: own })
}

/**
 * Whether a base URL is the host’s. The host’s own connections lead to its origin unchecked, so a deployment must not
 * choose another path there.
 *
 * @throws {IntegrationError} `invalid_inputs` for another path at the same origin
 */
function isAtHostsProvider(baseUrl: string, hostBaseUrl: string): boolean {
  const [given, own] = [new URL(baseUrl), new URL(hostBaseUrl)]
  if (given.origin !== own.origin) return false
  const addition = given.pathname + given.search + given.hash
  if (addition === '/' || withSlash(addition) === withSlash(own.pathname)) return true
  throw inputError('invalid_inputs', 'baseUrl', 'must not have a path of its own at the host’s provider')
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`
}

function sharedConnection({ shared, baseUrl = DEFAULT_BASE_URL }: MailerSettings): Connection {
  const { apiToken, fromEmail } = shared ?? {}
  if (apiToken) {
    return { apiToken, fromEmail: fromEmail || undefined, messageStream: DEFAULT_MESSAGE_STREAM, baseUrl }
  }
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
