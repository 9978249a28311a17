/**
 * A deployment that attaches to an existing application: it verifies the keys, and publishes them.
 *
 * @module
 */
import { type HandlerContext, type Inputs, isIntegrationError, type Outputs } from '@org/core'
import { connect, fromInputs, type IdpSettings, invalidKeys, keysOf, openClient } from './connection.ts'
import { callOptions, createInstanceHandlers } from './instance-handlers.ts'
import type { idp } from './integration.ts'
import { findKeyFaults, type InstanceKeys, parsePublishableKey } from './keys.ts'

type Context = HandlerContext<IdpSettings>

/** DEPLOYMENT_CREATED: verifies that both keys are valid and belong together, and publishes them. */
export async function created(inputs: Inputs<typeof idp>, context: Context): Promise<Outputs<typeof idp>> {
  const { serverType } = inputs
  if (serverType === 'shared' && (inputs.publishableKey || inputs.secretKey)) {
    context.log.warn('The deployment’s keys are ignored, because serverType is shared. Set it to dedicated.')
  }
  const keys = fromInputs(inputs, context.settings)
  const faults = findKeyFaults(keys)
  if (faults.length > 0) {
    throw invalidKeys(faults, inputs, {
      code: serverType === 'shared' ? 'missing_credentials' : 'invalid_inputs',
    })
  }
  const { frontendHost, frontendApiUrl } = parsePublishableKey(keys.publishableKey)
  const instance = await verify(keys, frontendHost, inputs, context)
  context.log.info(`Connected to the ${instance.environmentType} instance ${instance.id}.`, { serverType })
  return { ...keys, frontendApiUrl }
}

/** DEPLOYMENT_DELETED: the application stays, because the deployment did not create it. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The deployment stopped. Its application is unchanged.')
}

/** HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED, with the keys of the deployment or the shared ones. */
export const { health, metrics, download } = createInstanceHandlers<IdpSettings>({ connect, keys: keysOf })

/** Asks the provider for the instance of the secret key, and for its domains. */
async function verify(
  keys: InstanceKeys,
  frontendHost: string,
  inputs: Inputs<typeof idp>,
  context: Context,
) {
  const client = openClient(keys, context)
  const instance = await client.getInstance(callOptions(context)).catch((error: unknown) => {
    if (!isIntegrationError(error) || error.code !== 'credentials_rejected') throw error
    const message = 'is unknown to the provider, or revoked: copy the current key'
    const { code, provider } = error
    throw invalidKeys([{ path: 'secretKey', message }], inputs, { code, provider, cause: error })
  })
  const domains = await client.listDomains(callOptions(context))
  const hosts = domains.flatMap(({ frontendApiUrl }) => hostOf(frontendApiUrl) ?? [])
  if (!hosts.includes(frontendHost)) {
    const message = `names ${frontendHost}, but the instance of secretKey has ${hosts.join(', ') || 'no domain'}: copy both keys from one instance`
    throw invalidKeys([{ path: 'publishableKey', message }], inputs, { code: 'credentials_rejected' })
  }
  return instance
}

function hostOf(url: string | null): string | undefined {
  if (url === null) return undefined
  const absolute = url.includes('://') ? url : `https://${url}`
  return URL.canParse(absolute) ? new URL(absolute).host : undefined
}
