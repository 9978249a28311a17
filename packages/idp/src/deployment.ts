/**
 * The life of a deployment that attaches to an application: its keys are proved, and published.
 *
 * @module
 */
import { type HandlerContext, type Inputs, IntegrationError, type Outputs } from '@org/core'
import { connect, fromInputs, type IdpSettings, keysOf, openClient } from './connection.ts'
import type { InstanceKeys } from './download.ts'
import { callOptions, createInstanceHandlers } from './instance-handlers.ts'
import type { idp } from './integration.ts'
import { type PublishableKey, parseKeyPair } from './keys.ts'

type Context = HandlerContext<IdpSettings>

/** DEPLOYMENT_CREATED: proves that both keys are good and belong together, and publishes them. */
export async function created(inputs: Inputs<typeof idp>, context: Context): Promise<Outputs<typeof idp>> {
  const { publishableKey, secretKey } = fromInputs(inputs, context.settings)
  const publishable = parseKeyPair(publishableKey, secretKey)
  const instance = await prove({ publishableKey, secretKey }, publishable, context)
  context.log.info(`Connected to the ${instance.environmentType} instance ${instance.id}.`, {
    serverType: inputs.serverType,
  })
  return { publishableKey, secretKey, frontendApiUrl: publishable.frontendApiUrl }
}

/** DEPLOYMENT_DELETED: the application stays; it was there before. */
export async function deleted(context: Context): Promise<void> {
  context.log.info('The deployment is stopped; the application itself stays as it is.')
}

/** HEALTH_CHECK, METRIC_UPDATE and DOWNLOAD_STARTED, with the deployment's keys or the shared ones. */
export const { health, metrics, download } = createInstanceHandlers<IdpSettings>({ connect, keys: keysOf })

async function prove(keys: InstanceKeys, publishable: PublishableKey, context: Context) {
  const client = openClient(keys, context)
  const instance = await client.getInstance(callOptions(context))
  const domains = await client.listDomains(callOptions(context))
  const hosts = domains.flatMap(({ frontendApiUrl }) => hostOf(frontendApiUrl) ?? [])
  if (!hosts.includes(publishable.frontendHost)) {
    const message = `belongs to another instance than secretKey: it names ${publishable.frontendHost}, and the instance of the secret key has ${hosts.join(', ') || 'no domain'}`
    throw new IntegrationError('credentials_rejected', `publishableKey ${message}.`, {
      hint: 'Copy both keys from one instance of one application.',
      errors: [{ path: 'deployment.inputs.publishableKey', message }],
    })
  }
  return instance
}

function hostOf(url: string | null): string | undefined {
  if (url === null) return undefined
  const absolute = url.includes('://') ? url : `https://${url}`
  return URL.canParse(absolute) ? new URL(absolute).host : undefined
}
