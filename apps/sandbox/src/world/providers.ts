/**
 * The providers. Each one is emulated, unless the environment has the keys of the real one.
 *
 * @module
 */
import { type Faults, type Served, serve } from '@org/core/testing'
import type { BackendApi } from '@org/idp/testing'
import { createPlatformApi, type PlatformApi } from '@org/idp-server/testing'
import { createMailProvider, type MailProvider } from '@org/mailer/testing'
import { type Environment, SandboxError } from './listen.ts'

/** The providers that the host calls. A real provider has no emulator. */
export interface Providers {
  mail: {
    emulator: MailProvider | undefined
    from: string
    /** The recipient of the walk’s mail. */
    to: string
    /** How many messages the walk sends in a batch. */
    batchSize: number
    /** The token of a tenant. */
    token: string
  }
  /** The shared application, to which `/idp` attaches. */
  idp: {
    emulator: BackendApi | undefined
    /** Whether the walk may create users and organizations there. */
    mayChange: boolean
    publishableKey: string
  }
  /** The workspace in which `/idp-server` creates applications. */
  idpServer: {
    emulator: PlatformApi | undefined
    /** Whether the walk may create an application there. */
    mayChange: boolean
  }
  /** The faults of the emulated parts of the identity provider. */
  identityFaults: Faults | undefined
  /** The mail address of the user that the walk creates. */
  newcomer: string
}

/** The providers, and how the host reaches them. */
export interface StartedProviders {
  providers: Providers
  /** Configures the host, beside the environment. */
  variables: Environment
  /** Must never be printed. */
  secrets: readonly string[]
}

/** The real provider accepts mail to this address, counts it, and drops it. */
const BLACK_HOLE = 'test@blackhole.postmarkapp.com'
/** Needs three calls to the provider. */
const EMULATED_BATCH = 1_203
const REAL_BATCH = 3

/**
 * Starts the emulated providers.
 *
 * @param servers collects the started servers
 * @throws {SandboxError} if the environment has only a part of what a real provider needs
 */
export async function startProviders(environment: Environment, servers: Served[]): Promise<StartedProviders> {
  const mail = await startMail(environment, servers)
  const identity = await startIdentity(environment, servers)
  return {
    providers: { mail: mail.setting, ...identity.setting },
    variables: { ...mail.variables, ...identity.variables },
    secrets: [...mail.secrets, ...identity.secrets],
  }
}

async function startMail(environment: Environment, servers: Served[]) {
  const realToken = environment.MAILER_SHARED_API_TOKEN?.trim()
  if (realToken) {
    const from = environment.MAILER_SHARED_FROM_EMAIL?.trim()
    if (!from) {
      throw new SandboxError(
        'MAILER_SHARED_API_TOKEN is set, so the walk uses the real mail provider. It also needs MAILER_SHARED_FROM_EMAIL, a sender that the provider has confirmed. Without the token, the sandbox emulates the provider.',
      )
    }
    const setting = { emulator: undefined, from, to: BLACK_HOLE, batchSize: REAL_BATCH, token: realToken }
    return { setting, variables: {}, secrets: [realToken] }
  }
  const token = crypto.randomUUID()
  const emulator = createMailProvider({ apiTokens: [token] })
  const server = await serve(emulator.fetch)
  servers.push(server)
  const from = 'Shop <shop@example.com>'
  return {
    setting: { emulator, from, to: 'ada@example.com', batchSize: EMULATED_BATCH, token },
    variables: {
      MAILER_SHARED_API_TOKEN: token,
      MAILER_SHARED_FROM_EMAIL: from,
      MAILER_API_BASE: server.url,
    },
    secrets: [token],
  }
}

async function startIdentity(environment: Environment, servers: Served[]) {
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
      // The real provider sends no mail to addresses with “+clerk_test”.
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
  const names = ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY']
  const [given, missing] = publishableKey ? names : names.reverse()
  throw new SandboxError(
    `${given} is set, so the walk uses the real identity provider. It also needs ${missing} of the same instance. Without either key, the sandbox emulates the provider.`,
  )
}
