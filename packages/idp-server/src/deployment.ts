/**
 * The life of a provisioned application: created once, reused by every redeploy, deleted with its deployment.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError, type Outputs } from '@org/core'
import { callOptions, createInstanceHandlers, parsePublishableKey } from '@org/idp/instance'
import type { IdpPlatformClient } from './client.ts'
import { connect, connectPlatform, type IdpServerSettings, keysOf, openPlatform } from './connection.ts'
import { isNotFound } from './errors.ts'
import type { idpServer } from './integration.ts'
import { findApplication, forgetApplication, provideApplication, readRecord } from './provisioning.ts'
import type { Application } from './wire.ts'

type Context = HandlerContext<IdpServerSettings>

/** DEPLOYMENT_CREATED: creates the application or reuses the existing one, and publishes its keys. */
export async function created(
  inputs: Inputs<typeof idpServer>,
  context: Context,
): Promise<Outputs<typeof idpServer>> {
  const { environmentType } = inputs
  if (inputs.domain !== undefined && environmentType === 'development') {
    context.log.warn('The domain is ignored: a development instance has a domain of the provider.')
  }
  const platform = openPlatform(inputs, context)
  const application = await provideApplication(inputs, platform, context)
  const keys =
    pickKeys(application, environmentType) ??
    (await readKeys(application.applicationId, environmentType, platform, context))
  return { applicationId: application.applicationId, ...keys, frontendApiUrl: toUrl(keys.publishableKey) }
}

/** Deletes the new application, because the platform no longer knows the deployment. */
export async function discard({ applicationId }: Outputs<typeof idpServer>, context: Context): Promise<void> {
  await remove(applicationId, await connectPlatform(context), context)
  // If the platform knows the deployment again, it needs another application.
  await forgetApplication(context)
}

/** DEPLOYMENT_DELETED: deletes the application. It may be gone already. */
export async function deleted(context: Context): Promise<void> {
  const record = await readRecord(context)
  const platform = record && (await connectPlatform(context))
  const applicationId = platform && (await findApplication(record, platform, context))
  if (applicationId) await remove(applicationId, platform, context)
  else context.log.warn('The deployment has no recorded application, so there is none to delete.')
}

/** HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED, with the keys of the provisioned instance. */
export const { health, metrics, download } = createInstanceHandlers<IdpServerSettings>({
  connect,
  keys: keysOf,
})

function pickKeys({ instances }: Application, environmentType: string) {
  const instance = instances.find((candidate) => candidate.environmentType === environmentType)
  if (!instance?.publishableKey || !instance.secretKey) return undefined
  const { instanceId, publishableKey, secretKey } = instance
  return { instanceId, publishableKey, secretKey }
}

/** Reads the keys again: the provider may leave them out of the response to a create. */
async function readKeys(
  applicationId: string,
  environmentType: string,
  platform: IdpPlatformClient,
  context: Context,
) {
  const options = { ...callOptions(context), includeSecretKeys: true }
  const keys = pickKeys(await platform.getApplication(applicationId, options), environmentType)
  if (keys) return keys
  throw new IntegrationError(
    'provider_rejected',
    `Application ${applicationId} has no ${environmentType} instance with keys.`,
    {
      hint: 'Add that environment to the application at the provider, or change environmentType.',
      errors: [
        { path: 'deployment.inputs.environmentType', message: 'is not an environment of the application' },
      ],
    },
  )
}

/** The provider made the key, so an invalid one is not a fault of the inputs. */
function toUrl(publishableKey: string): string {
  try {
    return parsePublishableKey(publishableKey).frontendApiUrl
  } catch (cause) {
    const message = 'The publishable key of the new instance is invalid.'
    throw new IntegrationError('provider_error', message, { provider: { name: 'idp-server' }, cause })
  }
}

async function remove(applicationId: string, platform: IdpPlatformClient, context: Context): Promise<void> {
  try {
    await platform.deleteApplication(applicationId, callOptions(context))
    context.log.info(`Application ${applicationId} was deleted.`)
  } catch (error) {
    if (!isNotFound(error)) throw error
    context.log.info(`Application ${applicationId} was already gone.`)
  }
}
