/** The account of an event: the deployment's, or the shared one. */
import { type HandlerContext, type Inputs, IntegrationError } from '@org/core'
import { createExampleServiceClient, DEFAULT_BASE_URL, type ExampleServiceClient } from './client.ts'
import { exampleService } from './integration.ts'

/** The host's settings, for all deployments. */
export interface ExampleServiceSettings {
  /** The platform's own account, for deployments of the type `shared` and for events without one. */
  shared?: { apiToken?: string | undefined } | undefined
  /** @default 'https://api.example.com' */
  baseUrl?: string | undefined
}

/** A token, and the base URL to use it with. */
export type Connection = Record<'apiToken' | 'baseUrl', string>

/**
 * Reads the connection from a deployment's inputs.
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
    errors: [{ path: 'deployment.inputs.apiToken', message: 'is required with serverType dedicated' }],
  })
}

/** A client for an event: with the published outputs, else the inputs, else the shared token. */
export async function connect(
  { deployment, fetch }: HandlerContext,
  settings: ExampleServiceSettings,
): Promise<ExampleServiceClient> {
  if (!deployment) return createExampleServiceClient({ ...sharedConnection(settings), fetch })
  const outputs = await deployment.outputs(exampleService.outputs)
  // Not `outputs.apiUrl`: an event could name any URL there, and a token goes only to its own provider.
  const connection = outputs
    ? { apiToken: outputs.apiToken, baseUrl: settings.baseUrl ?? DEFAULT_BASE_URL }
    : fromInputs(await deployment.inputs(exampleService.inputs), settings)
  return createExampleServiceClient({ ...connection, fetch })
}

function sharedConnection({ shared, baseUrl = DEFAULT_BASE_URL }: ExampleServiceSettings): Connection {
  if (shared?.apiToken) return { apiToken: shared.apiToken, baseUrl }
  throw new IntegrationError('missing_credentials', 'This host has no shared account.', {
    hint: 'Set INTEGRATION_EXAMPLE_SERVICE_SHARED_API_TOKEN on the host, or deploy with a token of your own.',
  })
}
