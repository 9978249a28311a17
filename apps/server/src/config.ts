/**
 * The environment variables of the host, read once at start (specification §2.8, contract §7).
 *
 * @module
 */
import { createVerifier } from '@org/core'
import * as z from 'zod'

const list = (separator: string | RegExp) => (text: string) =>
  text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== '')

// `fetch` refuses a URL with a password, and quotes it in the error.
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
  .refine((url) => !URL.canParse(url) || new URL(url).username + new URL(url).password === '', {
    error: 'must not contain a user name or password',
  })

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text

const areWebhookSecrets = (secrets: string[]) => {
  try {
    createVerifier({ secrets })
    return true
  } catch {
    return false
  }
}

const webhookSecrets = z
  .string()
  .transform(list(/\s+/))
  .refine(areWebhookSecrets, { error: 'expected one or more whsec_… (base64), separated by spaces' })

const wholeNumber = (least: number, most: number, what: string) => {
  const error = `expected ${what} from ${least} to ${most}`
  return z.coerce.number({ error }).int({ error }).min(least, { error }).max(most, { error })
}

const variables = z.object({
  NODE_ENV: z.string().default('development'),
  PORT: wholeNumber(0, 65_535, 'a port').default(3009),
  LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'], { error: 'expected debug, info, warn or error' })
    .default('info'),
  BODY_LIMIT: wholeNumber(1_024, 1_073_741_824, 'a whole number of bytes').default(10 * 1024 * 1024),
  REQUEST_TIMEOUT_MS: wholeNumber(1_000, 900_000, 'a whole number of milliseconds').default(25_000),

  PLATFORM_API_URL: httpUrl,
  PLATFORM_API_TOKEN: z.string().optional(),
  PLATFORM_WEBHOOK_SECRET: webhookSecrets.optional(),
  WEBHOOK_AUTH: z.literal('none', { error: 'expected none; leave it empty otherwise' }).optional(),
  CORS_ORIGINS: z
    .string()
    .transform(list(','))
    .refine((origins) => origins.every(isOrigin), {
      error: 'expected origins such as https://app.example.com, separated by commas',
    })
    .optional(),
  DELIVERY_STORE: z
    .string()
    .regex(/^(memory:|sqlite:.+|rediss?:\/\/.+)$/, { error: 'expected memory:, sqlite:<file> or redis://…' })
    .optional(),
  ENV_REFERENCE_ALLOW: z.string().transform(list(',')).default([]),
  EGRESS_ALLOW: z.string().transform(list(',')).default([]),

  MAILER_SHARED_API_TOKEN: z.string().optional(),
  MAILER_SHARED_FROM_EMAIL: z.string().optional(),
  MAILER_API_BASE: httpUrl.optional(),

  IDP_SHARED_SECRET_KEY: z.string().startsWith('sk_', { error: 'expected a secret key, sk_…' }).optional(),
  IDP_SHARED_PUBLISHABLE_KEY: z
    .string()
    .startsWith('pk_', { error: 'expected a publishable key, pk_…' })
    .optional(),
  IDP_API_BASE: httpUrl.optional(),
  IDP_PLATFORM_API_KEY: z.string().optional(),
  IDP_PLATFORM_API_BASE: httpUrl.optional(),
})

/** The names of the host's own variables. No deployment may refer to them. */
export const configurationNames: readonly string[] = Object.keys(variables.shape)

/** The host's configuration. */
export type Config = ReturnType<typeof toConfig> & {
  /** See `IdpServerSettings`; no variable sets it. */
  idpServer: { settleMs?: number | undefined }
}

/** The configuration is invalid. The message names every variable at fault. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

const DEFAULT_FILE = 'sqlite:.data/deliveries.db'

/**
 * Reads and checks the whole environment.
 *
 * @param options.keepsFiles whether files survive a restart
 * @throws {ConfigurationError} with one line for each variable: its name and the expected value
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  { keepsFiles = true } = {},
): Config {
  // In a shell or a dashboard, an empty variable means “not set”.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  const parsed = variables.safeParse(given)
  const faults = (parsed.error?.issues ?? []).map(({ path: [variable], message }) => {
    const name = String(variable)
    const isMissing = given[name] === undefined
    return `${name}${isMissing ? ' is required' : ''}: ${message.replace(/^Invalid (input|option): /, '')}`
  })
  if (given.NODE_ENV === 'production') {
    if (!given.PLATFORM_WEBHOOK_SECRET && !given.WEBHOOK_AUTH) {
      faults.push(
        'PLATFORM_WEBHOOK_SECRET is required in production: one or more whsec_…; or set WEBHOOK_AUTH=none if a proxy in front of the host authenticates requests',
      )
    }
    if (!given.CORS_ORIGINS)
      faults.push('CORS_ORIGINS is required in production: the allowed origins, separated by commas')
    if (!given.DELIVERY_STORE && !keepsFiles) {
      faults.push(
        'DELIVERY_STORE is required in production on a platform that keeps no files: redis://… or rediss://…; or memory:, if one instance may repeat the effects of another',
      )
    }
  }
  if (given.DELIVERY_STORE?.startsWith('sqlite:') && !keepsFiles) {
    faults.push(
      'DELIVERY_STORE: this platform keeps no files; expected redis://… or rediss://… instead of sqlite:',
    )
  }
  if (!parsed.success || faults.length > 0) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    throw new ConfigurationError([`The configuration has ${count}:`, ...faults].join('\n  '))
  }
  return toConfig(parsed.data, keepsFiles ? DEFAULT_FILE : 'memory:')
}

function toConfig(values: z.output<typeof variables>, defaultStore: string) {
  const webhookSecrets = values.PLATFORM_WEBHOOK_SECRET ?? []
  const isOpen = webhookSecrets.length === 0 && values.WEBHOOK_AUTH !== 'none'
  const deliveryStore = values.DELIVERY_STORE ?? defaultStore
  const storePassword = URL.canParse(deliveryStore) && decodeURIComponent(new URL(deliveryStore).password)
  return {
    production: values.NODE_ENV === 'production',
    port: values.PORT,
    logLevel: values.LOG_LEVEL,
    /** Bytes. */
    bodyLimit: values.BODY_LIMIT,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    platform: { baseUrl: values.PLATFORM_API_URL, token: values.PLATFORM_API_TOKEN },
    /** Without any, requests are not verified. */
    webhookSecrets,
    corsOrigins: values.CORS_ORIGINS ?? [],
    /** `memory:`, `sqlite:<file>` or `redis://…`. */
    deliveryStore,
    /** Hosts that deployments may name in a base URL, whatever their address. */
    egressAllow: values.EGRESS_ALLOW,
    /** Variables that a deployment may refer to in production; `*` at the end is a wildcard. */
    environmentReferences: values.ENV_REFERENCE_ALLOW,
    mailer: {
      shared: { apiToken: values.MAILER_SHARED_API_TOKEN, fromEmail: values.MAILER_SHARED_FROM_EMAIL },
      baseUrl: values.MAILER_API_BASE,
    },
    idp: {
      shared: { publishableKey: values.IDP_SHARED_PUBLISHABLE_KEY, secretKey: values.IDP_SHARED_SECRET_KEY },
      baseUrl: values.IDP_API_BASE,
    },
    idpServer: {
      platformApiKey: values.IDP_PLATFORM_API_KEY,
      platformBaseUrl: values.IDP_PLATFORM_API_BASE,
      baseUrl: values.IDP_API_BASE,
    },
    /** Every value that must stay out of logs and responses. */
    secrets: [
      // The key itself, too, without the word in front of it.
      ...webhookSecrets.flatMap((secret) => [secret, secret.slice('whsec_'.length)]),
      values.PLATFORM_API_TOKEN,
      values.MAILER_SHARED_API_TOKEN,
      values.IDP_SHARED_SECRET_KEY,
      values.IDP_PLATFORM_API_KEY,
      storePassword || undefined,
    ].filter((value) => value !== undefined),
    /** Faults that the host can run with. */
    warnings: isOpen
      ? ['Webhooks are not authenticated: set PLATFORM_WEBHOOK_SECRET before others can reach this host.']
      : [],
  }
}
