/**
 * Whose account an event is handled with: the deployment's, or the shared one.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError } from '@org/core'
import {
  type CallOptions,
  createExampleServiceClient,
  DEFAULT_BASE_URL,
  type ExampleServiceClient,
} from './client.ts'
import { exampleService } from './integration.ts'

/** What the host configures for all deployments. */
export interface ExampleServiceSettings {
  /** The platform's own account, for deployments of the type `shared` and for events without one. */
  shared?: { apiToken?: string | undefined } | undefined
  /** @default 'https://api.example.com' */
  baseUrl?: string | undefined
}

type Context = HandlerContext<ExampleServiceSettings>

/** Everything that is needed to call the provider. */
export interface Connection {
  apiToken: string
  baseUrl: string
}

/**
 * The connection that a deployment's inputs describe.
 *
 * @throws {IntegrationError} `missing_credentials`
 */
export function fromInputs(
  { serverType, apiToken }: Inputs<typeof exampleService>,
  settings: ExampleServiceSettings,
): Connection {
  if (serverType === 'shared') return sharedConnection(settings)
  if (apiToken) return { apiToken, baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL }
  throw new IntegrationError('missing_credentials', 'A dedicated account needs its API token.', {
    errors: [{ path: 'deployment.inputs.apiToken', message: 'is required where serverType is dedicated' }],
  })
}

/**
 * A client for the event at hand: with what the deployment published, else with its inputs, else, where there
 * is no deployment, with the shared token.
 */
export async function connect(context: Context): Promise<ExampleServiceClient> {
  const { deployment, settings } = context
  if (!deployment) return openClient(sharedConnection(settings), context)
  const outputs = await deployment.outputs(exampleService.outputs)
  if (!outputs)
    return openClient(fromInputs(await deployment.inputs(exampleService.inputs), settings), context)
  // Not to the URL among the outputs: an event could name another, and a token goes to its own provider alone.
  return openClient({ apiToken: outputs.apiToken, baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL }, context)
}

/** A client for a connection. */
export function openClient(connection: Connection, { fetch }: Context): ExampleServiceClient {
  return createExampleServiceClient({ ...connection, fetch })
}

/** An event's deadline, for a call of the client. */
export function callOptions({ signal, deadline }: Context): CallOptions {
  return { signal, timeoutMs: deadline - Date.now() }
}

function sharedConnection({ shared, baseUrl = DEFAULT_BASE_URL }: ExampleServiceSettings): Connection {
  if (shared?.apiToken) return { apiToken: shared.apiToken, baseUrl }
  throw new IntegrationError('missing_credentials', 'This host has no shared account.', {
    hint: 'Set EXAMPLE_SERVICE_SHARED_API_TOKEN on the host, or deploy with a token of your own.',
  })
}
