/** The providers. Each one is emulated, unless the environment has the keys of the real one. */
import { type Served, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { type Environment, SandboxError } from './listen.ts'
import { createSamples } from './samples.ts'

/** The real provider accepts mail to this address, counts it, and drops it. */
const BLACK_HOLE = 'test@blackhole.postmarkapp.com'
/** Needs three calls to the provider. */
const EMULATED_BATCH = 1_203
const REAL_BATCH = 3

/**
 * Starts the emulated providers. A real provider has no emulator.
 *
 * @param servers collects the started servers
 * @returns the providers, the variables of the host, and the secrets that must never be printed
 * @throws {SandboxError} if the environment has only a part of what a real provider needs
 */
export async function startProviders(environment: Environment, servers: Served[]) {
  const mail = await startMail(environment, servers)
  const identity = await startIdentity(environment, servers)
  const samples = createSamples()
  const others: Record<string, string> = {}
  for (const { provider, variables, prepare } of samples) {
    const server = await serve(provider.fetch)
    servers.push(server)
    Object.assign(others, variables(server.url))
    prepare?.()
  }
  return {
    providers: { mail: mail.setting, ...identity.setting, samples },
    variables: { ...mail.variables, ...identity.variables, ...others },
    secrets: [...mail.secrets, ...identity.secrets, ...samples.flatMap(({ credentials }) => credentials)],
  }
}

async function startMail(environment: Environment, servers: Served[]) {
  const names = ['MAILER_SHARED_API_TOKEN', 'MAILER_SHARED_FROM_EMAIL'] as const
  const real = environment[names[0]]?.trim() ? readAll(environment, names, 'mail provider') : undefined
  if (real) {
    const [token, from] = real
    const setting = {
      emulator: undefined,
      url: undefined,
      from,
      to: BLACK_HOLE,
      batchSize: REAL_BATCH,
      token,
    }
    return { setting, variables: {}, secrets: [token] }
  }
  const token = crypto.randomUUID()
  const emulator = createMailProvider({ apiTokens: [token] })
  const server = await serve(emulator.fetch)
  servers.push(server)
  const from = 'Shop <shop@example.com>'
  return {
    setting: { emulator, url: server.url, from, to: 'ada@example.com', batchSize: EMULATED_BATCH, token },
    variables: {
      MAILER_SHARED_API_TOKEN: token,
      MAILER_SHARED_FROM_EMAIL: from,
      MAILER_API_BASE: server.url,
    },
    secrets: [token],
  }
}

async function startIdentity(environment: Environment, servers: Served[]) {
  const names = ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY'] as const
  const keys = readAll(environment, names, 'identity provider')
  const accessToken = environment.IDP_PLATFORM_API_KEY?.trim()
  const realEffects = environment.SANDBOX_REAL_EFFECTS?.trim() === '1'
  const emulatedToken = crypto.randomUUID()
  const emulator = createPlatformApi({ accessTokens: [emulatedToken] })
  const { instance } = emulator.backend
  const server = await serve(emulator.fetch)
  servers.push(server)
  const baseUrl = `${server.url}/v1`
  const [publishableKey, secretKey] = keys ?? [instance.publishableKey, instance.secretKey]
  return {
    setting: {
      /** The shared application, to which `/idp` attaches. */
      idp: {
        emulator: keys ? undefined : emulator.backend,
        /** Whether the walk may create users and organizations there. */
        mayChange: !keys || realEffects,
        publishableKey,
      },
      /** The workspace in which `/idp-server` creates applications. */
      idpServer: {
        emulator: accessToken ? undefined : emulator,
        /** Whether the walk may create an application there. */
        mayChange: !accessToken || realEffects,
      },
      identityUrl: server.url,
      /** The faults of the emulated parts of the identity provider. */
      identityFaults: keys && accessToken ? undefined : emulator.faults,
      /** The user that the walk creates. The real provider sends no mail to addresses with “+clerk_test”. */
      newcomer: keys || accessToken ? `ada-${crypto.randomUUID()}+clerk_test@example.com` : 'ada@example.com',
    },
    variables: {
      ...(!keys && {
        IDP_SHARED_PUBLISHABLE_KEY: publishableKey,
        IDP_SHARED_SECRET_KEY: secretKey,
        IDP_API_BASE: baseUrl,
      }),
      ...(!accessToken && { IDP_PLATFORM_API_KEY: emulatedToken, IDP_PLATFORM_API_BASE: baseUrl }),
    },
    secrets: [secretKey, accessToken ?? emulatedToken],
  }
}

/** The values of two variables that belong together, or `undefined` if both are absent. */
function readAll(
  environment: Environment,
  names: readonly [string, string],
  provider: string,
): [string, string] | undefined {
  const [one = '', other = ''] = names.map((name) => environment[name]?.trim())
  if (one && other) return [one, other]
  if (!one && !other) return undefined
  const [given, missing] = one ? names : names.toReversed()
  throw new SandboxError(
    `${given} is set, so the walk uses the real ${provider}. It also needs ${missing}. Without them, the sandbox emulates the provider.`,
  )
}
