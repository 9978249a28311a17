/** The keys and the client of an event: those of its deployment, or those of the shared application. */
import {
  type ErrorCode,
  type FieldError,
  type HandlerContext,
  type Inputs,
  IntegrationError,
} from '@org/core'
import type { IntegrationErrorOptions } from '@org/core/errors'
import { createIdpClient, type IdpClient } from './client.ts'
import { idp } from './integration.ts'
import type { InstanceKeys } from './keys.ts'

/** The host's configuration for all deployments. */
export interface IdpSettings {
  /** The platform's own application, for deployments of the type `shared` and for events without a deployment. */
  shared?: { publishableKey?: string | undefined; secretKey?: string | undefined } | undefined
  /** @default 'https://api.clerk.com/v1' */
  baseUrl?: string | undefined
}

const SHARED_HINT =
  'Set IDP_SHARED_PUBLISHABLE_KEY and IDP_SHARED_SECRET_KEY on the host, or deploy with your own keys.'

/**
 * Returns the keys that the inputs of a deployment select, unchecked; without inputs, the shared keys.
 *
 * @throws {IntegrationError} `missing_credentials` if the host has no shared application
 */
export function fromInputs(inputs: Inputs<typeof idp> | undefined, { shared }: IdpSettings): InstanceKeys {
  const isDedicated = inputs?.serverType === 'dedicated'
  const { publishableKey = '', secretKey = '' } = (isDedicated ? inputs : shared) ?? {}
  if (isDedicated || (publishableKey && secretKey)) return { publishableKey, secretKey }
  const message = 'This host has no shared identity-provider application.'
  throw new IntegrationError('missing_credentials', message, { hint: SHARED_HINT })
}

/** Makes the error for invalid keys: it names the inputs of the deployment, or the variables of the host. */
export function invalidKeys(
  faults: readonly FieldError[],
  { serverType }: Inputs<typeof idp>,
  { code, ...options }: IntegrationErrorOptions & { code: ErrorCode },
): IntegrationError {
  const words = faults.map(({ path, message }) => `${path} ${message}`).join('; ')
  if (serverType === 'shared') {
    const message = `The keys of this host’s shared application are invalid: ${words}.`
    return new IntegrationError(code, message, { ...options, hint: SHARED_HINT })
  }
  const errors = faults.map(({ path, message }) => ({ path: `deployment.inputs.${path}`, message }))
  return new IntegrationError(code, `The keys are invalid: ${words}.`, { ...options, errors })
}

/**
 * Returns the keys for an event: the deployment's published keys, else the keys of its inputs. An event
 * without a deployment gets the shared keys.
 */
export async function keysOf({ deployment }: HandlerContext, settings: IdpSettings): Promise<InstanceKeys> {
  const outputs = await deployment?.outputs(idp.outputs, { inputsSuffice: true })
  return outputs ?? fromInputs(await deployment?.inputs(idp.inputs), settings)
}

/** Makes a client for an event. */
export async function connect(context: HandlerContext, settings: IdpSettings): Promise<IdpClient> {
  const { secretKey } = await keysOf(context, settings)
  return createIdpClient({ secretKey, baseUrl: settings.baseUrl, fetch: context.fetch })
}
