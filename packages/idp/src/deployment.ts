/** The life of a deployment that attaches to an application. */
import { type HandlerContext, type Handlers, type Inputs, isIntegrationError } from '@org/core'
import { createIdpClient, type IdpClient } from './client.ts'
import { connect, fromInputs, type IdpSettings, invalidKeys, keysOf } from './connection.ts'
import { createInstanceHandlers } from './instance.ts'
import type { idp } from './integration.ts'
import { findKeyFaults, parsePublishableKey } from './keys.ts'

/** Makes the handlers of every event. */
export function createDeploymentHandlers(settings: IdpSettings): Handlers<typeof idp> {
  return {
    /** Verifies that both keys are valid and belong together, and publishes them. */
    async created(inputs, context) {
      const { serverType } = inputs
      const keys = fromInputs(inputs, settings)
      const faults = findKeyFaults(keys)
      const isMissing = serverType === 'shared' || Object.values(keys).includes('')
      const code = isMissing ? 'missing_credentials' : 'invalid_inputs'
      if (faults.length > 0) throw invalidKeys(faults, inputs, { code })
      const { frontendHost, frontendApiUrl } = parsePublishableKey(keys.publishableKey)
      const { secretKey } = keys
      const client = createIdpClient({ secretKey, baseUrl: settings.baseUrl, fetch: context.fetch })
      const instance = await verify(client, frontendHost, inputs, context)
      context.log.info(`Connected to the ${instance.environmentType} instance ${instance.id}.`, {
        serverType,
      })
      return { ...keys, frontendApiUrl }
    },

    /** The application stays, because the deployment did not create it. */
    async deleted(context) {
      context.log.info('The deployment stopped. Its application is unchanged.')
    },

    ...createInstanceHandlers({
      connect: (context) => connect(context, settings),
      keys: (context) => keysOf(context, settings),
    }),
  }
}

/** Asks the provider for the instance of the secret key, and for its domains. */
async function verify(
  client: IdpClient,
  frontendHost: string,
  inputs: Inputs<typeof idp>,
  context: HandlerContext,
) {
  const instance = await client.getInstance(context).catch((error: unknown) => {
    if (!isIntegrationError(error) || error.code !== 'credentials_rejected') throw error
    const message = 'is unknown to the provider, or revoked: copy the current key'
    const { code, provider } = error
    throw invalidKeys([{ path: 'secretKey', message }], inputs, { code, provider, cause: error })
  })
  const domains = await client.listDomains(context)
  const hosts = domains.flatMap(
    ({ frontendApiUrl }) => frontendApiUrl?.replaceAll(/^\w+:\/\/|\/.*/g, '') ?? [],
  )
  if (!hosts.includes(frontendHost)) {
    const message = `names ${frontendHost}, but the instance of secretKey has ${hosts.join(', ') || 'no domain'}: copy both keys from one instance`
    throw invalidKeys([{ path: 'publishableKey', message }], inputs, { code: 'credentials_rejected' })
  }
  return instance
}
