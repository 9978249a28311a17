/** The tokens of a workspace, and the keys of a provisioned instance. */
import { type DeliveryStore, type HandlerContext, IntegrationError, isIntegrationError } from '@org/core'
import { createIdpClient, type IdpClient } from '@org/idp/instance'
import * as z from 'zod'
import { createIdpPlatformClient, type IdpPlatformClient } from './client.ts'
import { isNotFound } from './errors.ts'
import { idpServer, instanceKeys } from './integration.ts'
import type { Application } from './wire.ts'

/** The host's configuration for all deployments. */
export interface IdpServerSettings {
  /**
   * The platform's own Platform API access token, for deployments without a token. Earlier tokens of the same workspace
   * may follow it, separated by spaces: what they created can still be updated and deleted.
   */
  platformApiKey?: string | undefined
  /**
   * Base URL of the Platform API.
   * @default 'https://api.clerk.com/v1'
   */
  platformBaseUrl?: string | undefined
  /**
   * Base URL of the Backend API, which serves the instances.
   * @default 'https://api.clerk.com/v1'
   */
  baseUrl?: string | undefined
  /**
   * How long an application may take to appear in the provider's list after a create with an unknown outcome, in
   * milliseconds. No other application is created before that.
   * @default 60_000
   */
  settleMs?: number | undefined
}

/** The applications of a workspace at one moment. */
export type Look = readonly Application[]

/** The host's configuration, and what all its events share. */
export interface Host extends IdpServerSettings {
  /** The lists under way, by the fingerprint of the workspace's token. */
  looks: Map<string, Promise<Look>>
  store: DeliveryStore
}

/** An access token that can be used, and recognised. */
interface Token {
  client: IdpPlatformClient
  /** Recognises the token without revealing it. */
  fingerprint: string
}

/** The workspace of a deployment, for one event. */
export interface Workspace extends Token {
  context: HandlerContext
  /** The token that is used, and earlier ones. */
  tokens: readonly Token[]
  /** Whether one of the tokens has this fingerprint. */
  isOwn(fingerprint: string): boolean
  /** Lists the applications for a look before a create: the list may have begun before the call, for another creation. */
  lookShared(): Promise<Look>
  /** See {@link IdpServerSettings.settleMs}. */
  settleMs: number
}

const DEFAULT_SETTLE_MS = 60_000

/** A teardown needs only the token, so it accepts invalid values of the other inputs. */
const tokenInput = z.object({ platformApiKey: idpServer.inputs.shape.platformApiKey })

/** The single tokens of a setting. */
export function tokensOf(platformApiKey = ''): string[] {
  return platformApiKey.split(/\s+/).filter(Boolean)
}

/**
 * Opens the workspace of an event, with the token of its deployment or those of the host.
 *
 * @param inputs the inputs of the deployment, of which only the token is used; by default, they are read
 * @throws {IntegrationError} `missing_credentials` if neither the inputs nor the host has a token
 */
export async function openWorkspace(
  context: HandlerContext,
  { platformBaseUrl: baseUrl, settleMs = DEFAULT_SETTLE_MS, looks, ...host }: Host,
  inputs?: z.output<typeof tokenInput>,
): Promise<Workspace> {
  const given = inputs ?? (await context.deployment?.inputs(tokenInput))
  const keys = tokensOf(given?.platformApiKey ?? host.platformApiKey)
  const open = async (platformApiKey: string): Promise<Token> => ({
    client: createIdpPlatformClient({ platformApiKey, baseUrl, fetch: context.fetch }),
    fingerprint: await fingerprintOf(`workspace ${platformApiKey}`),
  })
  const tokens = await Promise.all(keys.map(open))
  const [used] = tokens
  if (!used) {
    throw new IntegrationError('missing_credentials', 'The Platform API access token is missing.', {
      hint: 'Set IDP_PLATFORM_API_KEY on the host, or give the deployment a platformApiKey.',
      errors: [
        { path: 'deployment.inputs.platformApiKey', message: 'is required, because the host has none' },
      ],
    })
  }
  const { client, fingerprint } = used
  return {
    ...used,
    context,
    tokens,
    settleMs,
    isOwn: (other) => tokens.some((token) => token.fingerprint === other),
    lookShared() {
      const shared = looks.get(fingerprint)
      // The signal of the other event must not end this one.
      if (shared) return shared.catch(() => client.listApplications(context))
      const own = client.listApplications(context).finally(() => looks.delete(fingerprint))
      looks.set(fingerprint, own)
      return own
    },
  }
}

/**
 * Reads an application with the first of the tokens that knows it.
 *
 * @returns the application, and the token
 * @throws {IntegrationError} the answer to the token that is used, if no token knows the application
 */
export async function findApplication(
  applicationId: string,
  { tokens, context }: Workspace,
  includeSecretKeys = false,
): Promise<Token & { application: Application }> {
  const { signal, deadline } = context
  let first: unknown
  for (const token of tokens) {
    try {
      const options = { signal, deadline, includeSecretKeys }
      return { ...token, application: await token.client.getApplication(applicationId, options) }
    } catch (error) {
      // An earlier token may have been revoked.
      const isRevoked =
        first !== undefined && isIntegrationError(error) && error.code === 'credentials_rejected'
      if (!isNotFound(error) && !isRevoked) throw error
      first ??= error
    }
  }
  throw first
}

/**
 * Returns the published keys of the provisioned instance.
 *
 * @throws {IntegrationError} `missing_credentials` if the deployment has published none
 */
export async function keysOf({ deployment }: HandlerContext): Promise<z.output<typeof instanceKeys>> {
  const keys = await deployment?.outputs(instanceKeys)
  if (keys) return keys
  const message = deployment
    ? 'The deployment has not published its keys yet.'
    : 'The event names no deployment, and this integration has no shared instance.'
  const hint = 'Deploy it first, and name it in the event. Its log has the reason of a failure.'
  throw new IntegrationError('missing_credentials', message, { hint })
}

/** Makes a client for the provisioned instance. */
export async function connect(context: HandlerContext, { baseUrl }: Host): Promise<IdpClient> {
  const { secretKey } = await keysOf(context)
  return createIdpClient({ secretKey, baseUrl, fetch: context.fetch })
}

/** The first 16 hexadecimal digits of a SHA-256: too few to be reversed, enough to tell secrets apart. */
export async function fingerprintOf(secret: string): Promise<string> {
  const bytes = new TextEncoder().encode(`idp-server ${secret}`)
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(hash.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
