/**
 * The life of a provisioned application: created once, reused by every redeploy, deleted with its deployment.
 */
import { type HandlerContext, type Handlers, IntegrationError } from '@org/core'
import { createInstanceHandlers, parsePublishableKey } from '@org/idp/instance'
import {
  connect,
  connectWorkspace,
  type IdpServerSettings,
  keysOf,
  openWorkspace,
  type Workspace,
} from './connection.ts'
import type { idpServer } from './integration.ts'
import { provideApplication } from './provisioning.ts'
import { readKnown } from './records.ts'
import { discardApplication, removeApplication } from './removal.ts'
import type { Application } from './wire.ts'

/** Makes the handlers of every event but FUNCTION_CALL. */
export function createDeploymentHandlers(settings: IdpServerSettings) {
  return {
    /** Creates the application or reuses the existing one, and publishes its keys. */
    async created(inputs, context) {
      const { environmentType } = inputs
      const workspace = await openWorkspace(inputs, context, settings)
      const application = await provideApplication(inputs, workspace, context)
      const keys =
        pickKeys(application, environmentType) ??
        (await readKeys(application.applicationId, environmentType, workspace, context))
      return { applicationId: application.applicationId, ...keys, frontendApiUrl: toUrl(keys.publishableKey) }
    },

    /** Deletes an application that was never published, because the platform no longer knows the deployment. */
    async discard(_, context) {
      await discardApplication(await connectWorkspace(context, settings), context)
    },

    /** Deletes the application. It may be gone already. */
    async deleted(context) {
      const known = await readKnown(context)
      if (known) await removeApplication(known, await connectWorkspace(context, settings), context)
      else context.log.warn('The deployment has no recorded application, so there is none to delete.')
    },

    ...createInstanceHandlers({ connect: (context) => connect(context, settings), keys: keysOf }),
  } satisfies Omit<Handlers<typeof idpServer>, 'functions'>
}

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
  workspace: Workspace,
  context: HandlerContext,
) {
  const { signal, deadline } = context
  const options = { signal, deadline, includeSecretKeys: true }
  const keys = pickKeys(await workspace.client.getApplication(applicationId, options), environmentType)
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
