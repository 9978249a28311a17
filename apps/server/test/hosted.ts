/**
 * The whole host between emulators of the platform and of every provider.
 */
import { createPlatformEmulator } from '@org/core/testing'
import { createBackendApi } from '@org/idp/testing'
import { createPlatformApi } from '@org/idp-server/testing'
import { createMailProvider } from '@org/mailer/testing'
import { createHost, type HostOptions, readConfig } from '../src/host.ts'

/** The credentials of the host, and those of a deployment. */
export interface Credentials {
  platformToken: string
  webhookSecret: string
  mailToken: string
  secretKey: string
  accessToken: string
  tenantMailToken: string
  tenantSecretKey: string
  tenantAccessToken: string
}

export const credentials: Credentials = {
  platformToken: 'platform-token',
  webhookSecret: `whsec_${btoa('the secret of the webhooks')}`,
  mailToken: 'shared-mail-token',
  secretKey: `sk_test_${'s'.repeat(42)}`,
  accessToken: 'ak_shared_workspace',
  tenantMailToken: 'tenant-mail-token',
  tenantSecretKey: `sk_test_${'t'.repeat(42)}`,
  tenantAccessToken: 'ak_tenant_workspace',
}

/** A request that left for a provider. */
export interface Sent {
  host: string
  method: string
  url: string
  headers: Headers
  text: string
}

/** Makes the emulators; `start` makes a host between them, as often as it is called. */
export function createWorld(given: Credentials = credentials) {
  const platform = createPlatformEmulator({ token: given.platformToken })
  const mail = createMailProvider({ apiTokens: [given.mailToken, given.tenantMailToken] })
  const backend = createBackendApi({
    instances: [
      { secretKey: given.secretKey, frontendHost: 'shared.clerk.accounts.dev' },
      { secretKey: given.tenantSecretKey, frontendHost: 'tenant.clerk.accounts.dev' },
    ],
  })
  const [shared, own] = [...backend.instances.values()]
  if (!shared || !own) throw new Error('There are two instances.')
  const workspace = createPlatformApi({ accessTokens: [given.accessToken, given.tenantAccessToken], backend })
  const servers = new Map([
    ['platform.test', platform.fetch],
    ['mail.test', mail.fetch],
    ['idp.test', workspace.fetch],
  ])
  const sent: Sent[] = []
  /** Responses instead of the emulator's, by host. */
  const overrides = new Map<string, (request: Sent) => Response>()

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init)
    const { host } = new URL(request.url)
    // Any server that a deployment names is a mail server.
    const server = servers.get(host) ?? mail.fetch
    const text = await request.clone().text()
    const { method, url, headers } = request
    const leaving = { host, method, url, headers, text }
    sent.push(leaving)
    return overrides.get(host)?.(leaving) ?? server(request)
  }

  function start({
    variables = {},
    requestTimeoutMs,
    ...options
  }: {
    variables?: Record<string, string>
    /** Shorter than a configuration may say. */
    requestTimeoutMs?: number | undefined
  } & Pick<HostOptions, 'environment' | 'store' | 'logger' | 'egress' | 'createMetrics' | 'tracing'> = {}) {
    const config = readConfig({
      PLATFORM_API_URL: 'http://platform.test',
      PLATFORM_API_TOKEN: given.platformToken,
      MAILER_API_BASE: 'http://mail.test',
      MAILER_SHARED_API_TOKEN: given.mailToken,
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
      IDP_API_BASE: 'http://idp.test/v1',
      IDP_SHARED_SECRET_KEY: given.secretKey,
      IDP_SHARED_PUBLISHABLE_KEY: shared?.publishableKey,
      IDP_PLATFORM_API_BASE: 'http://idp.test/v1',
      IDP_PLATFORM_API_KEY: given.accessToken,
      ...variables,
    })
    const idpServer = { ...config.idpServer, settleMs: 0 }
    const timeout = requestTimeoutMs === undefined ? {} : { requestTimeoutMs }
    return createHost({ ...config, ...timeout, idpServer }, { logger: () => {}, ...options, fetch })
  }

  return { platform, mail, backend, workspace, shared, own, sent, overrides, start }
}
