/** The life of a deployment. It connects to the provider and creates nothing there. */
import { checkHealth, type Handlers } from '@org/core'
import { createExampleServiceClient } from './client.ts'
import { connect, type ExampleServiceSettings, fromInputs } from './connection.ts'
import type { exampleService } from './integration.ts'

/** Makes the handlers of every event but FUNCTION_CALL. */
export function createDeploymentHandlers(settings: ExampleServiceSettings) {
  return {
    /** Verifies the token, and publishes the connection. */
    async created(inputs, context) {
      const connection = fromInputs(inputs, settings)
      const client = createExampleServiceClient({ ...connection, fetch: context.fetch })
      const account = await client.getAccount(context)
      context.log.info(`Connected to the account “${account.name}”.`, { serverType: inputs.serverType })
      return { apiToken: connection.apiToken, apiUrl: connection.baseUrl }
    },

    /** The provider has nothing to tear down. */
    async deleted(context) {
      context.log.info('The account is disconnected.')
    },

    /** Reads the account with the configured token. */
    async health(context) {
      const probe = async () => (await connect(context, settings)).getAccount(context)
      return [await checkHealth('provider', probe)]
    },

    async metrics(context) {
      return { number_of_items: await (await connect(context, settings)).countItems(context) }
    },
  } satisfies Omit<Handlers<typeof exampleService>, 'functions'>
}
