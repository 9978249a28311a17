/**
 * The life of a provisioned application: created once, reused by every redeploy, deleted with its deployment.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError, type Outputs } from '@org/core'
import { callOptions, createInstanceHandlers, parsePublishableKey } from '@org/idp/instance'
import type { IdpPlatformClient } from './client.ts'
import { connect, type IdpServerSettings, keysOf, openPlatform } from './connection.ts'
import { isNotFound } from './errors.ts'
import type { idpServer } from './integration.ts'
import { findApplication, forgetApplication, provideApplication } from './provisioning.ts'
import type { Application, Instance } from './wire.ts'

type Context = HandlerContext<IdpServerSettings>

/** DEPLOYMENT_CREATED: creates the application, or takes up the one that is there, and publishes its keys. */
export async function created(
  inputs: Inputs<typeof idpServer>,
  context: Context,
): Promise<Outputs<typeof idpServer>> {
  if (inputs.domain !== undefined && inputs.environmentType === 'development') {
    context.log.warn('The domain is not used: a development instance lives on a domain of the provider.')
  }
  const platform = await openPlatform(context)
  const application = await provideApplication(inputs, platform, context)
  const { instanceId, publishableKey, secretKey } = await withKeys(application, inputs, platform, context)
  const frontendApiUrl = readFrontendApiUrl(publishableKey)
  return { applicationId: application.applicationId, instanceId, publishableKey, secretKey, frontendApiUrl }
}

/** Deletes the application again, where the platform no longer knows the deployment. */
export async function discard({ applicationId }: Outputs<typeof idpServer>, context: Context): Promise<void> {
  await remove(applicationId, context)
  // Otherwise a deployment that the platform knows again would wait for what is gone.
  await forgetApplication(context)
}

/** DEPLOYMENT_DELETED: deletes the application; one that is gone already counts as deleted. */
export async function deleted(context: Context): Promise<void> {
  const applicationId = await findApplication(context)
  if (applicationId) await remove(applicationId, context)
  else context.log.warn('No application was recorded for this deployment, so there is none to delete.')
}

/** HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED, with the keys of the provisioned instance. */
export const { health, metrics, download } = createInstanceHandlers<IdpServerSettings>({
  connect,
  keys: keysOf,
})

/** The instance of the wanted environment with its keys; the provider may leave them out of any answer but one. */
async function withKeys(
  application: Application,
  { environmentType }: Inputs<typeof idpServer>,
  platform: IdpPlatformClient,
  context: Context,
): Promise<Instance & { publishableKey: string; secretKey: string }> {
  const { applicationId } = application
  const complete = pickInstance(application, environmentType)
  if (complete) return complete
  const options = { ...callOptions(context), includeSecretKeys: true }
  const again = pickInstance(await platform.getApplication(applicationId, options), environmentType)
  if (again) return again
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

function pickInstance({ instances }: Application, environmentType: string) {
  const instance = instances.find((candidate) => candidate.environmentType === environmentType)
  if (!instance?.publishableKey || !instance.secretKey) return undefined
  return { ...instance, publishableKey: instance.publishableKey, secretKey: instance.secretKey }
}

/** The provider made the key, so one that can't be read is no fault of the inputs. */
function readFrontendApiUrl(publishableKey: string): string {
  try {
    return parsePublishableKey(publishableKey).frontendApiUrl
  } catch (cause) {
    const message = 'The publishable key of the new instance could not be understood.'
    throw new IntegrationError('provider_error', message, { provider: { name: 'idp-server' }, cause })
  }
}

async function remove(applicationId: string, context: Context): Promise<void> {
  const platform = await openPlatform(context)
  try {
    await platform.deleteApplication(applicationId, callOptions(context))
    context.log.info(`Application ${applicationId} was deleted.`)
  } catch (error) {
    if (!isNotFound(error)) throw error
    context.log.info(`Application ${applicationId} was gone already.`)
  }
}
