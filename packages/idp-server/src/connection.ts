/**
 * Which token creates an application, and which keys its instance has.
 *
 * @module
 */
import { type HandlerContext, IntegrationError } from '@org/core'
import { createIdpClient, type IdpClient } from '@org/idp/instance'
import * as z from 'zod'
import { createIdpPlatformClient, type IdpPlatformClient } from './client.ts'
import { idpServer } from './integration.ts'

/** What the host configures for all deployments. */
export interface IdpServerSettings {
  /** The platform's own Platform API access token, for deployments without one. */
  platformApiKey?: string | undefined
  /**
   * Base of the Platform API.
   * @default 'https://api.clerk.com/v1'
   */
  platformBaseUrl?: string | undefined
  /**
   * Base of the Backend API, which the instance is spoken to at.
   * @default 'https://api.clerk.com/v1'
   */
  baseUrl?: string | undefined
  /**
   * How long an application may still appear at the provider after the connection that asked for it broke, in
   * milliseconds. Until then none is created in its place.
   * @default 60_000
   */
  settleMs?: number | undefined
}

type Context = HandlerContext<IdpServerSettings>

/** The token is all that a teardown needs of the inputs; the others may be as they like. */
const tokenInput = z.object({ platformApiKey: idpServer.inputs.shape.platformApiKey })

/**
 * A client for the workspace of the event's deployment: by its own token, else by the platform's.
 *
 * @throws {IntegrationError} `missing_credentials` where there is neither
 */
export async function openPlatform({ deployment, settings, fetch }: Context): Promise<IdpPlatformClient> {
  const platformApiKey = (await deployment?.inputs(tokenInput))?.platformApiKey ?? settings.platformApiKey
  if (!platformApiKey) {
    throw new IntegrationError(
      'missing_credentials',
      'There is no Platform API access token to create applications with.',
      {
        hint: 'Set IDP_PLATFORM_API_KEY on the host, or give the deployment a platformApiKey.',
        errors: [
          { path: 'deployment.inputs.platformApiKey', message: 'is required, because the host has none' },
        ],
      },
    )
  }
  return createIdpPlatformClient({ platformApiKey, baseUrl: settings.platformBaseUrl, fetch })
}

/**
 * The keys of the provisioned instance, as they were published.
 *
 * @throws {IntegrationError} `missing_credentials` where none were
 */
export async function keysOf({
  deployment,
}: Context): Promise<{ publishableKey: string; secretKey: string }> {
  const keys = await deployment?.outputs(idpServer.outputs.pick({ publishableKey: true, secretKey: true }))
  if (keys) return keys
  throw deployment
    ? new IntegrationError('missing_credentials', 'The deployment has published no keys yet.', {
        hint: 'Deploy it first; where that failed, its log says why.',
      })
    : new IntegrationError(
        'missing_credentials',
        'The event names no deployment, and there is no shared instance here.',
        {
          hint: 'Name the deployment whose instance is meant; /idp serves the shared application.',
        },
      )
}

/** A client for the provisioned instance. */
export async function connect(context: Context): Promise<IdpClient> {
  const { secretKey } = await keysOf(context)
  return createIdpClient({ secretKey, baseUrl: context.settings.baseUrl, fetch: context.fetch })
}
