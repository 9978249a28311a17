/** The providers. Each one is emulated, unless the environment has the keys of the real one. */
import { type Served, serve } from '@org/core/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { type Environment, SandboxError } from './listen.ts'
import { createSamples } from './samples.ts'

/** The real provider accepts mail to this address, counts it, and drops it. */
const BLACK_HOLE = 'test@blackhole.postmarkapp.com'

/**
 * Starts the emulated providers. A real provider has no emulator.
 * @param servers collects the started servers
 * @returns the providers, the variables of the host, and the secrets that must never be printed
 * @throws {SandboxError} if the environment has only a part of what a real provider needs
 */
export async function startProviders(environment: Environment, servers: Pick<Served, 'close'>[]) {
  const start = async (provider: { fetch: typeof fetch }) => {
    const server = await serve(provider.fetch)
    servers.push(server)
    return server.url
  }
  const mailNames = ['MAILER_SHARED_API_TOKEN', 'MAILER_SHARED_FROM_EMAIL'] as const
  const idpNames = ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY'] as const
  const realMail = environment[mailNames[0]]?.trim() && readBoth(environment, mailNames, 'mail provider')
  const realKeys = readBoth(environment, idpNames, 'identity provider')
  const realWorkspace = environment.IDP_PLATFORM_API_KEY?.trim()

  const [token, from] = realMail || [crypto.randomUUID(), 'Shop <shop@example.com>']
  const mailEmulator = createMailProvider({ apiTokens: [token] })
  const mailUrl = await start(mailEmulator)

  const accessToken = realWorkspace || crypto.randomUUID()
  const identity = createPlatformApi({ accessTokens: [accessToken] })
  const identityUrl = await start(identity)
  const { instance } = identity.backend
  const [publishableKey, secretKey] = realKeys ?? [instance.publishableKey, instance.secretKey]

  const samples = createSamples()
  const variables: Record<string, string> = {
    ...(!realMail && { [mailNames[0]]: token, [mailNames[1]]: from, MAILER_API_BASE: mailUrl }),
    ...(!realKeys && {
      [idpNames[0]]: publishableKey,
      [idpNames[1]]: secretKey,
      IDP_API_BASE: `${identityUrl}/v1`,
    }),
    ...(!realWorkspace && {
      IDP_PLATFORM_API_KEY: accessToken,
      IDP_PLATFORM_API_BASE: `${identityUrl}/v1`,
    }),
  }
  for (const sample of samples) {
    Object.assign(variables, sample.variables(await start(sample.provider)))
    sample.prepare?.()
  }
  return {
    providers: {
      mail: {
        token,
        from,
        emulator: realMail ? undefined : mailEmulator,
        url: realMail ? undefined : mailUrl,
        to: realMail ? BLACK_HOLE : 'ada@example.com',
      },
      /** The shared application, to which `/idp` attaches. */
      idp: { emulator: realKeys ? undefined : identity.backend, publishableKey },
      /** The workspace in which `/idp-server` creates applications. */
      idpServer: { emulator: realWorkspace ? undefined : identity },
      identityUrl,
      /** The faults of the emulated parts of the identity provider. */
      identityFaults: realKeys && realWorkspace ? undefined : identity.faults,
      samples,
      /** The integrations whose provider is real. An instance is known only beside its application. */
      realRoutes: [
        ...(realMail ? ['mailer'] : []),
        ...(realKeys ? ['idp'] : []),
        ...(realKeys || realWorkspace ? ['idp-server'] : []),
      ],
    },
    variables,
    secrets: [token, secretKey, accessToken, ...samples.flatMap(({ credentials }) => credentials)],
  }
}

/** The values of two variables that belong together, or `undefined` if both are absent. */
function readBoth(
  environment: Environment,
  names: readonly [string, string],
  provider: string,
): [string, string] | undefined {
  const [one = '', other = ''] = names.map((name) => environment[name]?.trim())
  if (one && other) return [one, other]
  if (!one && !other) return undefined
  const [given, missing] = one ? names : names.toReversed()
  throw new SandboxError(
    `${given} is set, so the host uses the real ${provider}. It also needs ${missing}. Without them, the sandbox emulates the provider.`,
  )
}
