/** The whole host between emulators of the platform and of every provider. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { namedHostsOnly } from '@org/core/internal/host'
import {
  createPlatformEmulator,
  type DeliverOptions,
  deliver,
  type IntegrationSample,
} from '@org/core/testing'
import { createBackendApi } from '@org/idp/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { createHost, type HostOptions, readConfig } from '../src/host.ts'
import { createEgressRule } from '../src/outbound/egress-rule.ts'
import { createSamples } from '../src/samples.ts'

// With characters that each encoding writes differently, if the kind of secret allows them.
const secretOf = (kind: string) => `canary-${kind}-+/"\\&%=`

/** The credentials of the host, and those of a deployment. */
export const credentials = {
  platformToken: secretOf('platform'),
  webhookSecret: `whsec_${btoa('the secret of the webhooks')}`,
  operatorToken: 'operator-token-of-this-host',
  mailToken: secretOf('mail'),
  secretKey: `sk_test_${'s'.repeat(42)}`,
  accessToken: secretOf('workspace'),
  tenantMailToken: secretOf('tenant-mail'),
  tenantSecretKey: `sk_test_${'t'.repeat(42)}`,
  tenantAccessToken: secretOf('tenant-workspace'),
}

/** The variables of a host in production, beside those of {@link startHost}. */
export const production = {
  NODE_ENV: 'production',
  CORS_ORIGINS: 'https://app.example.com',
  PLATFORM_WEBHOOK_SECRET: credentials.webhookSecret,
}

/** Further integrations that bring a sample with their emulator. */
export const samples = await createSamples()

/** A request that left for a provider. */
export interface Sent {
  host: string
  method: string
  url: string
  headers: Headers
  text: string
}

/** Options of a host between emulators. */
export interface StartOptions extends Omit<HostOptions, 'fetch' | 'egress'> {
  variables?: Record<string, string>
  /** May be shorter than a configuration allows. */
  requestTimeoutMs?: number | undefined
}

/** The variables of a host whose platform and providers are at these URLs. */
export const variablesAt = (platform: string, mailer: string, idp: string) => ({
  PLATFORM_API_URL: platform,
  PLATFORM_API_TOKEN: credentials.platformToken,
  MAILER_API_BASE: mailer,
  MAILER_SHARED_API_TOKEN: credentials.mailToken,
  MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
  IDP_API_BASE: `${idp}/v1`,
  IDP_SHARED_SECRET_KEY: credentials.secretKey,
  IDP_SHARED_PUBLISHABLE_KEY: `pk_test_${btoa('shared.clerk.accounts.dev$')}`,
  IDP_PLATFORM_API_BASE: `${idp}/v1`,
  IDP_PLATFORM_API_KEY: credentials.accessToken,
})

const hostOf = ({ definition }: IntegrationSample) => `${definition.name}.test`

/** Makes the emulators, and a `fetch` that leads to them. */
export function createWorld() {
  const { accessToken, tenantAccessToken } = credentials
  const platform = createPlatformEmulator({ token: credentials.platformToken })
  const mail = createMailProvider({ apiTokens: [credentials.mailToken, credentials.tenantMailToken] })
  const backend = createBackendApi({
    instances: [
      { secretKey: credentials.secretKey, frontendHost: 'shared.clerk.accounts.dev' },
      { secretKey: credentials.tenantSecretKey, frontendHost: 'tenant.clerk.accounts.dev' },
    ],
  })
  for (const { createUser } of backend.instances.values()) createUser({ id: 'user_1' })
  const workspace = createPlatformApi({
    accessTokens: [accessToken, tenantAccessToken],
    workspaces: { [accessToken]: 'host', [tenantAccessToken]: 'tenant' },
    backend,
  })
  for (const { prepare } of samples) prepare?.()
  let held = { arrived: 0, released: Promise.resolve() }
  /** The mail provider, which `holdMail` holds. */
  async function answerMail(request: Request): Promise<Response> {
    held.arrived += 1
    await held.released
    return mail.fetch(request)
  }
  const servers = new Map<string, (request: Request) => Promise<Response>>([
    ...samples.map((sample) => [hostOf(sample), sample.provider.fetch] as const),
    ['platform.test', platform.fetch],
    ['idp.test', workspace.fetch],
  ])
  const sent: Sent[] = []
  /** Responses instead of the emulator's, by host. */
  const overrides = new Map<string, (request: Sent) => Response | Promise<Response>>()

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { method, url, headers } = request
    const { host } = new URL(url)
    const leaving = { host, method, url, headers, text: await request.clone().text() }
    sent.push(leaving)
    // Any server that a deployment names is a mail server.
    return overrides.get(host)?.(leaving) ?? (servers.get(host) ?? answerMail)(request)
  }

  return {
    ...{ platform, mail, answerMail, backend, workspace, sent, overrides, fetch },
    /** Holds every call to the mail provider until `letGo`. */
    holdMail(): { arrived: () => number; letGo: () => void } {
      const { promise, resolve } = Promise.withResolvers<void>()
      const own = { arrived: 0, released: promise }
      held = own
      return { arrived: () => own.arrived, letGo: resolve }
    },
  }
}

/** Starts a host between emulators of its own. */
export function startHost({ variables = {}, requestTimeoutMs, ...options }: StartOptions = {}) {
  const world = createWorld()
  const { fetch } = world
  const ofSamples = samples.map((sample) => sample.variables(`http://${hostOf(sample)}`))
  const config = readConfig({
    ...variablesAt('http://platform.test', 'http://mail.test', 'http://idp.test'),
    // The mail server of the corpus, whose token is a variable.
    EGRESS_ALLOW: 'mail.example.com',
    ...variables,
  })
  const idpServer = { ...config.idpServer, settleMs: 0 }
  const { production, egressAllow: allow } = config
  const egress = createEgressRule({ production, allow }, namedHostsOnly(fetch).refuse)
  const environment = Object.assign({}, ...ofSamples, options.environment)
  const host = createHost(
    { ...config, requestTimeoutMs: requestTimeoutMs ?? config.requestTimeoutMs, idpServer },
    { logger: () => {}, egress, ...options, environment, fetch },
  )
  return {
    world,
    host,
    get: async (path: string, headers: Record<string, string> = {}) =>
      host.fetch(new Request(`http://host.test${path}`, { headers })),
    /** Delivers an event to a route, such as `mailer`. */
    send: (route: string, event: unknown, delivery: DeliverOptions = {}) =>
      deliver(host.fetch, event, { url: `http://host.test/${route}/webhook`, ...delivery }),
  }
}

/** An empty folder. */
export const createFolder = () => mkdtempSync(join(tmpdir(), 'host-'))

/** A call of a function. */
export const calling = (name: string, args: object = {}) => ({
  name: 'FUNCTION_CALL',
  functionCall: { name, arguments: args },
})

export const mail = { to: 'ada@example.com', subject: 'Hi', textBody: 'x' }

/** A deployment of the mailer with its own token, and perhaps with its own server. */
export const mailDeployment = (id: string, baseUrl?: string) => ({
  id,
  inputs: {
    serverType: 'dedicated',
    apiToken: credentials.tenantMailToken,
    fromEmail: 'shop@example.com',
    ...(baseUrl && { baseUrl }),
  },
})
