import type { IntegrationSample } from '@org/core/testing'
import { exampleService } from '../integration.ts'
import { createExampleServiceProvider } from './provider.ts'

/** The integration with its provider, for the sandbox and for the tests of a whole host. */
export function createSample() {
  const credentials = ['dedicated-token', 'shared-token'] as const
  const [apiToken, sharedToken] = credentials
  const provider = createExampleServiceProvider(credentials)
  return {
    definition: exampleService,
    provider,
    inputs: { serverType: 'dedicated', apiToken },
    credentials,
    variables: (baseUrl) => ({
      INTEGRATION_EXAMPLE_SERVICE_SHARED_API_TOKEN: sharedToken,
      INTEGRATION_EXAMPLE_SERVICE_API_BASE: baseUrl,
    }),
    // The examples of the contract name it.
    prepare: () => void provider.items.set('item_1', { id: 'item_1', name: 'A first one' }),
  } satisfies IntegrationSample
}
