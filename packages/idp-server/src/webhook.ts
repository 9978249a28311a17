/**
 * The webhook integration for `POST /idp-server/webhook`: an application is created once for a deployment, reused by
 * every redeploy, and deleted with it.
 *
 * @example
 * ```ts
 * import { createHandler } from '@org/idp-server/webhook'
 *
 * export default { fetch: createHandler({ platform, platformApiKey }) }
 * ```
 * @module
 */
import {
  createWebhookHandler,
  type HandlerContext,
  type HandlerDependencies,
  type Handlers,
  IntegrationError,
  memoryStore,
  type WebhookHandler,
} from '@org/core'
import { createInstanceHandlers, parsePublishableKey } from '@org/idp/instance'
import { pickKeys } from './client.ts'
import {
  connect,
  findApplication,
  type Host,
  type IdpServerSettings,
  keysOf,
  openWorkspace,
  tokensOf,
  type Workspace,
} from './connection.ts'
import { checkDns, tellMissingRecords } from './dns.ts'
import { idpServer } from './integration.ts'
import { ensureOwn } from './isolation.ts'
import { provideApplication } from './provisioning.ts'
import { readKnown, reserveKeys } from './records.ts'
import { discardApplication, removeApplication } from './removal.ts'

export type { IdpServerSettings } from './connection.ts'
export { idpServer as integration } from './integration.ts'
export { findOrphans, type Orphan, type OrphanReport, type OrphanSearch } from './orphans.ts'

/**
 * Makes the webhook handler.
 *
 * @param dependencies the dependencies of every handler, and the host's settings for provisioning
 */
export function createHandler(dependencies: HandlerDependencies & IdpServerSettings): WebhookHandler {
  const { store = memoryStore(), platformApiKey } = dependencies
  const secrets = [...(dependencies.secrets ?? []), ...tokensOf(platformApiKey)]
  const host = { ...dependencies, store, looks: new Map() }
  return createWebhookHandler(idpServer, createHandlers(host), { ...dependencies, store, secrets })
}

/** Makes the handlers of every event. */
function createHandlers(host: Host): Handlers<typeof idpServer> {
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
