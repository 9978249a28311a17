/**
 * The life of a deployment: it connects to the provider, and tears nothing down.
 *
 * @module
 */
import { checkHealth, type HandlerContext, type Inputs, type Outputs } from '@org/core'
import { callOptions, connect, type ExampleServiceSettings, fromInputs, openClient } from './connection.ts'
import type { exampleService } from './integration.ts'

type Context = HandlerContext<ExampleServiceSettings>

/** DEPLOYMENT_CREATED: resolves the token, verifies it, and publishes what others need. */
export async function created(
  inputs: Inputs<typeof exampleService>,
  context: Context,
): Promise<Outputs<typeof exampleService>> {
  const connection = fromInputs(inputs, context.settings)
  const account = await openClient(connection, context).getAccount(callOptions(context))
  context.log.info(`Connected to the account “${account.name}”.`, { serverType: inputs.serverType })
  return { apiToken: connection.apiToken, apiUrl: connection.baseUrl }
}

/** DEPLOYMENT_DELETED: nothing external exists that could be torn down. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The connection to the account is no longer tracked.')
}

/** HEALTH_CHECK: asks for the account with the configured token. */
export async function health(context: Context) {
  const probe = async () => (await connect(context)).getAccount(callOptions(context))
  return [await checkHealth('provider', probe)]
}

/** METRIC_UPDATE: what the provider counts. */
export async function metrics(context: Context) {
  return { number_of_items: await (await connect(context)).countItems(callOptions(context)) }
}
