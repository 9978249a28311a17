/**
 * The life of a deployment that attaches to an application: its keys are proved, and published.
 *
 * @module
 */
import { type HandlerContext, type Inputs, isIntegrationError, type Outputs } from '@org/core'
import { connect, fromInputs, type IdpSettings, keysOf, openClient, unusableKeys } from './connection.ts'
import { callOptions, createInstanceHandlers } from './instance-handlers.ts'
import type { idp } from './integration.ts'
import { findKeyFaults, type InstanceKeys, parsePublishableKey } from './keys.ts'

type Context = HandlerContext<IdpSettings>

/** DEPLOYMENT_CREATED: proves that both keys are good and belong together, and publishes them. */
export async function created(inputs: Inputs<typeof idp>, context: Context): Promise<Outputs<typeof idp>> {
  const { serverType } = inputs
  if (serverType === 'shared' && (inputs.publishableKey || inputs.secretKey)) {
    context.log.warn('The keys are not used: serverType is shared. Set it to dedicated to use them.')
  }
  const keys = fromInputs(inputs, context.settings)
  const faults = findKeyFaults(keys)
  if (faults.length > 0) {
    throw unusableKeys(faults, inputs, {
      code: serverType === 'shared' ? 'missing_credentials' : 'invalid_inputs',
    })
  }
  const instance = await prove(keys, inputs, context)
  context.log.info(`Connected to the ${instance.environmentType} instance ${instance.id}.`, { serverType })
  return { ...keys, frontendApiUrl: parsePublishableKey(keys.publishableKey).frontendApiUrl }
}

/** DEPLOYMENT_DELETED: the application stays; it was there before. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The deployment is stopped; the application itself stays as it is.')
}

/** HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED, with the deployment's keys or the shared ones. */
export const { health, metrics, download } = createInstanceHandlers<IdpSettings>({ connect, keys: keysOf })

/** Asks the provider whether it knows the secret key, and whether the publishable key is of that instance. */
async function prove(keys: InstanceKeys, inputs: Inputs<typeof idp>, context: Context) {
  const client = openClient(keys, context)
  const instance = await client.getInstance(callOptions(context)).catch((error: unknown) => {
    if (!isIntegrationError(error) || error.code !== 'credentials_rejected') throw error
    const message = 'is not known to the provider, or was revoked: copy the current one'
    const { code, provider } = error
    throw unusableKeys([{ path: 'secretKey', message }], inputs, { code, provider, cause: error })
  })
  const { frontendHost } = parsePublishableKey(keys.publishableKey)
  const domains = await client.listDomains(callOptions(context))
  const hosts = domains.flatMap(({ frontendApiUrl }) => hostOf(frontendApiUrl) ?? [])
  if (!hosts.includes(frontendHost)) {
    const message = `belongs to another instance than secretKey, for it names ${frontendHost}, and the instance of the secret key has ${hosts.join(', ') || 'no domain'}: copy both keys from one instance`
    throw unusableKeys([{ path: 'publishableKey', message }], inputs, { code: 'credentials_rejected' })
  }
  return instance
}

function hostOf(url: string | null): string | undefined {
  if (url === null) return undefined
  const absolute = url.includes('://') ? url : `https://${url}`
  return URL.canParse(absolute) ? new URL(absolute).host : undefined
}
