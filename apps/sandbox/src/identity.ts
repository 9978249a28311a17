/**
 * The identity provider, with an application that is there and a workspace for new ones. Each of the two is
 * emulated, or the real one where the environment has its keys.
 *
 * @module
 */
import { type Faults, type Served, serve } from '@org/core/testing'
import type { BackendApi } from '@org/idp/testing'
import { createPlatformApi, type PlatformApi } from '@org/idp-server/testing'
import { type Environment, type Provider, SandboxError } from './environment.ts'

/** The shared application, which `/idp` attaches to. */
interface IdpSetting {
  /** `undefined`: it is the real one. */
  emulator: BackendApi | undefined
  /** Whether the walk may create users and organizations there. */
  mayChange: boolean
  publishableKey: string
}

/** The workspace in which `/idp-server` creates applications. */
interface IdpServerSetting {
  /** `undefined`: it is the real one. */
  emulator: PlatformApi | undefined
  /** Whether the walk may create an application there. */
  mayChange: boolean
}

/** Both. */
export interface IdentitySetting {
  idp: IdpSetting
  idpServer: IdpServerSetting
  /** The faults of what is emulated of both. */
  identityFaults: Faults | undefined
  /** The mail address of the user that the walk creates. */
  newcomer: string
}

/**
 * Starts what is emulated of the identity provider.
 *
 * @throws {SandboxError} where only one of the two keys of the real application is there
 */
export async function startIdentity(
  environment: Environment,
  servers: Served[],
): Promise<Provider<IdentitySetting>> {
  const keys = realKeys(environment)
  const accessToken = environment.IDP_PLATFORM_API_KEY?.trim()
  const realEffects = environment.SANDBOX_REAL_EFFECTS?.trim() === '1'

  const emulatedToken = crypto.randomUUID()
  const emulator = createPlatformApi({ accessTokens: [emulatedToken] })
  const { instance } = emulator.backend
  const server = await serve(emulator.fetch)
  servers.push(server)
  const baseUrl = `${server.url}/v1`

  return {
    setting: {
      idp: keys
        ? { emulator: undefined, mayChange: realEffects, publishableKey: keys.publishableKey }
        : { emulator: emulator.backend, mayChange: true, publishableKey: instance.publishableKey },
      idpServer: accessToken
        ? { emulator: undefined, mayChange: realEffects }
        : { emulator, mayChange: true },
      identityFaults: keys && accessToken ? undefined : emulator.faults,
      // The provider sends nothing to addresses with this mark.
      newcomer: keys || accessToken ? `ada-${crypto.randomUUID()}+clerk_test@example.com` : 'ada@example.com',
    },
    variables: {
      ...(keys
        ? {}
        : {
            IDP_SHARED_PUBLISHABLE_KEY: instance.publishableKey,
            IDP_SHARED_SECRET_KEY: instance.secretKey,
            IDP_API_BASE: baseUrl,
          }),
      ...(accessToken ? {} : { IDP_PLATFORM_API_KEY: emulatedToken, IDP_PLATFORM_API_BASE: baseUrl }),
    },
    secrets: [keys?.secretKey ?? instance.secretKey, accessToken ?? emulatedToken],
  }
}

function realKeys(environment: Environment): { publishableKey: string; secretKey: string } | undefined {
  const publishableKey = environment.IDP_SHARED_PUBLISHABLE_KEY?.trim()
  const secretKey = environment.IDP_SHARED_SECRET_KEY?.trim()
  if (publishableKey && secretKey) return { publishableKey, secretKey }
  if (!publishableKey && !secretKey) return undefined
  const [given, missing] = publishableKey
    ? ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY']
    : ['IDP_SHARED_SECRET_KEY', 'IDP_SHARED_PUBLISHABLE_KEY']
  throw new SandboxError(
    `${given} is set, so the walk uses the real identity provider: it also needs ${missing}, of the same instance. (Without either, the provider is emulated.)`,
  )
}
