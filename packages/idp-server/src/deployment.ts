/** The life of a deployment with an application of its own. */
import { type HandlerContext, type Handlers, IntegrationError } from '@org/core'
import { createInstanceHandlers, parsePublishableKey } from '@org/idp/instance'
import { connect, findApplication, type Host, keysOf, openWorkspace, type Workspace } from './connection.ts'
import { checkDns, tellMissingRecords } from './dns.ts'
import type { idpServer } from './integration.ts'
import { ensureOwn } from './isolation.ts'
import { provideApplication } from './provisioning.ts'
import { readKnown, reserveKeys } from './records.ts'
import { discardApplication, removeApplication } from './removal.ts'
import { pickKeys } from './wire.ts'

/** Makes the handlers of every event. */
export function createDeploymentHandlers(host: Host): Handlers<typeof idpServer> {
  const own = (context: HandlerContext) => ensureOwn(context, host.store)
  const { health, ...others } = createInstanceHandlers({
    connect: async (context) => connect(await own(context), host),
    keys: async (context) => keysOf(await own(context)),
  })
  return {
    /** Creates the application or reuses the existing one, and publishes its keys. */
    async created(inputs, context) {
      const { environmentType } = inputs
      const workspace = await openWorkspace(context, host, inputs)
      const application = await provideApplication(inputs, workspace)
      const keys =
        pickKeys(application, environmentType) ??
        (await readKeys(application.applicationId, environmentType, workspace))
      await reserveKeys(keys, context)
      if (environmentType === 'production') await tellMissingRecords(application.applicationId, workspace)
      return { applicationId: application.applicationId, ...keys, frontendApiUrl: toUrl(keys.publishableKey) }
    },

    /** Deletes an application that was never published, because the platform no longer knows the deployment. */
    async discard(_, context) {
      await discardApplication(await openWorkspace(context, host))
    },

    /** Deletes the application. It may be gone already. */
    async deleted(context) {
      const known = await readKnown(context)
      if (known) await removeApplication(known, await openWorkspace(context, host))
      else context.log.warn('The deployment has no recorded application, so there is none to delete.')
    },

    ...others,
    async health(context) {
      // An instance of others is refused, and not unhealthy.
      await own(context)
      const [checks, dns] = await Promise.all([health(context), checkDns(context, host)])
      return [...checks, ...dns]
    },
  }
}

/** Reads the keys again: the provider may leave them out of the response to a create. */
async function readKeys(applicationId: string, environmentType: string, workspace: Workspace) {
  const { application } = await findApplication(applicationId, workspace, true)
  const keys = pickKeys(application, environmentType)
  if (keys) return keys
  const message = `Application ${applicationId} has no ${environmentType} instance with keys.`
  const path = 'deployment.inputs.environmentType'
  throw new IntegrationError('provider_rejected', message, {
    hint: 'Add that environment to the application at the provider, or change environmentType.',
    errors: [{ path, message: 'is not an environment of the application' }],
  })
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
