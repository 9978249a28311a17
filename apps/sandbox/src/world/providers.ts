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
 * @param servers collects the started servers
 * @returns the providers, the variables of the host, and the secrets that must never be printed
 * @throws {SandboxError} if the environment has only a part of what a real provider needs
 */
export async function startProviders(environment: Environment, servers: Served[]) {
  const start = async (provider: { fetch: typeof fetch }) => {
    const server = await serve(provider.fetch)
    servers.push(server)
    return server.url
  }
  const mail = await startMail(environment, start)
  const identity = await startIdentity(environment, start)
  const samples = createSamples()
  const variables = { ...mail.variables, ...identity.variables }
  for (const sample of samples) {
    Object.assign(variables, sample.variables(await start(sample.provider)))
    sample.prepare?.()
  }
  const { idp, idpServer } = identity.providers
  /** Whether nothing leaves this machine. */
  const isEmulated = Boolean(mail.provider.emulator && idp.emulator && idpServer.emulator)
  return {
    providers: { mail: mail.provider, ...identity.providers, samples, isEmulated },
    variables,
    secrets: [mail.provider.token, ...identity.secrets, ...samples.flatMap(({ credentials }) => credentials)],
  }
}

type Start = (provider: { fetch: typeof fetch }) => Promise<string>

async function startMail(environment: Environment, start: Start) {
  const names = ['MAILER_SHARED_API_TOKEN', 'MAILER_SHARED_FROM_EMAIL'] as const
  const [token, from] = (environment[names[0]]?.trim() && readAll(environment, names, 'mail provider')) || []
  if (token && from) {
    const real = { emulator: undefined, url: undefined, to: BLACK_HOLE, batchSize: REAL_BATCH }
    return { provider: { ...real, from, token }, variables: {} }
  }
  const own = { from: 'Shop <shop@example.com>', token: crypto.randomUUID() }
  const emulator = createMailProvider({ apiTokens: [own.token] })
  const url = await start(emulator)
  return {
    provider: { ...own, emulator, url, to: 'ada@example.com', batchSize: EMULATED_BATCH },
    variables: { [names[0]]: own.token, [names[1]]: own.from, MAILER_API_BASE: url },
  }
}

async function startIdentity(environment: Environment, start: Start) {
  const names = ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY'] as const
  const keys = readAll(environment, names, 'identity provider')
  const accessToken = environment.IDP_PLATFORM_API_KEY?.trim()
  const realEffects = environment.SANDBOX_REAL_EFFECTS?.trim() === '1'
  const emulatedToken = crypto.randomUUID()
  const emulator = createPlatformApi({ accessTokens: [emulatedToken] })
  const { instance } = emulator.backend
  const url = await start(emulator)
  const [publishableKey, secretKey] = keys ?? [instance.publishableKey, instance.secretKey]
  const application = { [names[0]]: publishableKey, [names[1]]: secretKey, IDP_API_BASE: `${url}/v1` }
  const workspace = { IDP_PLATFORM_API_KEY: emulatedToken, IDP_PLATFORM_API_BASE: `${url}/v1` }
  return {
    providers: {
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
      identityUrl: url,
      /** The faults of the emulated parts of the identity provider. */
      identityFaults: keys && accessToken ? undefined : emulator.faults,
      /** The user that the walk creates. The real provider sends no mail to addresses with “+clerk_test”. */
      newcomer: keys || accessToken ? `ada-${crypto.randomUUID()}+clerk_test@example.com` : 'ada@example.com',
    },
    variables: { ...(!keys && application), ...(!accessToken && workspace) },
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
