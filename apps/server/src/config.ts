/** The environment variables of the host, read once at start (specification §2.8, contract §7). */
import { editDistance, suggestion } from '@org/core/internal/host'
import type * as z from 'zod/mini'
import { isOwnName, redisPassword, variables } from './variables.ts'

/** The host's configuration. */
export type Config = ReturnType<typeof toConfig> & {
  /** See `IdpServerSettings`; no variable sets it. */
  idpServer: { settleMs?: number | undefined }
}

/** The configuration is invalid. The message names every variable at fault. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** The default of the Node host. */
export const DEFAULT_STORE = 'sqlite:.data/deliveries.db'
/** Balancers ask for `/readyz` every few seconds. */
const DRAIN_DELAY_MS = 3_000
const LOOPBACK = '127.0.0.1'

/**
 * Reads and checks the whole environment.
 *
 * @param options.isFunction whether a platform starts the host on demand, and keeps no files
 * @param options.others faults that were found elsewhere, to be reported with the others
 * @throws {ConfigurationError} with one line for each variable: its name and the expected value
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  { isFunction = false, others = [] }: { isFunction?: boolean; others?: readonly string[] } = {},
): Config {
  // In a shell or a dashboard, an empty variable means “not set”.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()))
  // Parsed once, so it is not worth compiling.
  const parsed = variables.safeParse(given, { jitless: true })
  const invalid = (parsed.error?.issues ?? []).map(({ path: [variable], message }) => {
    const name = String(variable)
    const isMissing = given[name] === undefined
    return `${name}${isMissing ? ' is required' : ''}: ${message.replace(/^Invalid (input|option): /, '')}`
  })
  const production = isProduction(given.NODE_ENV)
  const { PLATFORM_WEBHOOK_SECRET, WEBHOOK_AUTH, CORS_ORIGINS, DELIVERY_STORE } = given
  const faults = [
    ...invalid,
    ...textsThatHold({
      'PLATFORM_WEBHOOK_SECRET is required in production: one or more whsec_…; or set WEBHOOK_AUTH=none if a proxy in front of the host authenticates requests':
        production && !PLATFORM_WEBHOOK_SECRET && !WEBHOOK_AUTH,
      'CORS_ORIGINS is required in production: the allowed origins, separated by commas':
        production && !CORS_ORIGINS,
      'DELIVERY_STORE is required in production on a platform that keeps no files: redis://… or rediss://…; or memory:, if one instance may repeat the effects of another':
        production && isFunction && !DELIVERY_STORE,
      'INTEGRATIONS: a function has the integrations of its bundle alone': isFunction && given.INTEGRATIONS,
      'DELIVERY_STORE: this platform keeps no files; expected redis://… or rediss://… instead of sqlite:':
        isFunction && DELIVERY_STORE?.startsWith('sqlite:'),
    }),
    ...others,
  ]
  if (!parsed.success || faults.length > 0) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    throw new ConfigurationError([`The configuration has ${count}:`, ...faults].join('\n  '))
  }
  return toConfig(parsed.data, { isFunction, names: Object.keys(given) })
}

/** The texts whose condition holds. */
function textsThatHold(texts: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(texts).filter((text) => texts[text])
}

const OWN_PREFIX = /^(MAILER|IDP|PLATFORM|WEBHOOK|DELIVERY|OPERATOR|ENV_REFERENCE|EGRESS)_/
const PROXY = /^(https?|all)_proxy$/i

/** Two letters away from a shorter name, such as HOST, are variables of others, such as HOME. */
const SHORT_NAME = 7

/** Variables that the operator seems to have meant for the host. */
function findMisspelt(names: readonly string[]): string[] {
  const known = Object.keys(variables.shape)
  const isNear = (name: string) =>
    known.some((each) => editDistance(name, each) <= (each.length > SHORT_NAME ? 2 : 1))
  return names
    .filter((name) => !isOwnName(name) && (OWN_PREFIX.test(name) || isNear(name)))
    .map((name) => `${name} is no variable of this host${suggestion(name, known)}.`)
}

/** A typing error must not open the host, so every other word is production. */
function isProduction(environment = 'development'): boolean {
  return !['development', 'test'].includes(environment.trim())
}

function toConfig(
  values: z.output<typeof variables>,
  { isFunction, names }: { isFunction: boolean; names: readonly string[] },
) {
  const webhookSecrets = values.PLATFORM_WEBHOOK_SECRET ?? []
  const recordKeys = [...webhookSecrets, ...(values.RECORD_KEYS ?? [])]
  const production = isProduction(values.NODE_ENV)
  const deliveryStore = values.DELIVERY_STORE ?? (isFunction ? 'memory:' : DEFAULT_STORE)
  // A host that accepts events of anyone must be out of reach of others.
  const isOpen = webhookSecrets.length === 0 && !production
  const ownReferences = values.ENV_REFERENCE_ALLOW.filter(isOwnName)
  const proxies = names.filter((name) => PROXY.test(name))
  const { IDP_SHARED_PUBLISHABLE_KEY: publishableKey, IDP_SHARED_SECRET_KEY: secretKey } = values
  return {
    production,
    /** Whether the host accepts events of anyone, so that only its own machine may reach it. */
    isOpen,
    /** The address to listen on. */
    hostname: isOpen ? LOOPBACK : (values.HOST ?? (production ? '0.0.0.0' : LOOPBACK)),
    port: values.PORT,
    logLevel: values.LOG_LEVEL,
    /** Bytes. */
    bodyLimit: values.BODY_LIMIT,
    requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
    /** How long a host that stops still takes connections. */
    drainDelayMs: values.DRAIN_DELAY_MS ?? (production ? DRAIN_DELAY_MS : 0),
    keepAliveMs: values.KEEP_ALIVE_MS,
    leaseMs: values.LEASE_MS,
    platform: { baseUrl: values.PLATFORM_API_URL, token: values.PLATFORM_API_TOKEN },
    /** Without any, requests are not verified. */
    webhookSecrets,
    /** Encrypt and sign the records: a reader or writer of the store has not read the environment. */
    recordKeys,
    /** For the routes of operators. Without it, they are open in development, and absent in production. */
    operatorToken: values.OPERATOR_TOKEN,
    corsOrigins: values.CORS_ORIGINS ?? [],
    /** `memory:`, `sqlite:<file>`, `redis://…` or `rediss://…`. */
    deliveryStore,
    /** Hosts that deployments may name in a base URL, whatever their address. */
    egressAllow: values.EGRESS_ALLOW,
    /** Variables that a deployment may name in production; `*` at the end is a wildcard. */
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
      ...recordKeys.flatMap((secret) => [secret, secret.slice('whsec_'.length)]),
      values.PLATFORM_API_TOKEN,
      values.OPERATOR_TOKEN,
      values.MAILER_SHARED_API_TOKEN,
      values.IDP_SHARED_SECRET_KEY,
      ...(values.IDP_PLATFORM_API_KEY?.split(/ +/) ?? []),
      redisPassword(deliveryStore) || undefined,
    ].filter((value) => value !== undefined),
    /** Risks that the host can run with, and what has no effect. */
    warnings: textsThatHold({
      ...Object.fromEntries(findMisspelt(names).map((text) => [text, true])),
      [`${proxies.join(', ')}: not used, because a proxy would resolve the names of deployments' servers, past the rule for addresses.`]:
        proxies.length > 0,
      'PLATFORM_API_URL is not encrypted (http:), and outputs with keys are sent to it.':
        production && values.PLATFORM_API_URL.startsWith('http:'),
      'IDP_SHARED_PUBLISHABLE_KEY and IDP_SHARED_SECRET_KEY belong together, and one is missing.':
        (publishableKey === undefined) !== (secretKey === undefined),
      'MAILER_SHARED_FROM_EMAIL has no effect without MAILER_SHARED_API_TOKEN.':
        values.MAILER_SHARED_FROM_EMAIL !== undefined && values.MAILER_SHARED_API_TOKEN === undefined,
      'WEBHOOK_AUTH has no effect beside PLATFORM_WEBHOOK_SECRET: events must be signed.':
        webhookSecrets.length > 0 && values.WEBHOOK_AUTH !== undefined,
      'Webhooks are not authenticated, and anyone can reach a function: set PLATFORM_WEBHOOK_SECRET.':
        isOpen && isFunction,
      [`Webhooks are not authenticated, so the host listens on the loopback interface alone.${values.HOST === undefined ? '' : ' HOST is ignored.'} Set PLATFORM_WEBHOOK_SECRET to let others reach it.`]:
        isOpen && !isFunction,
      'WEBHOOK_AUTH is none: everyone who reaches this host may send events. A proxy must check them.':
        !isOpen && webhookSecrets.length === 0,
      [`ENV_REFERENCE_ALLOW lists ${ownReferences.join(', ')}: a variable of the host itself is never given to a deployment.`]:
        ownReferences.length > 0,
      'DELIVERY_STORE is memory:, so an effect happens once within one instance only: another instance may repeat it.':
        isFunction && deliveryStore === 'memory:',
      'ENV_REFERENCE_ALLOW is *: a deployment may use every variable of this process but those of the host.':
        values.ENV_REFERENCE_ALLOW.includes('*'),
      'Without PLATFORM_WEBHOOK_SECRET or RECORD_KEYS, records have no key of the host: a reader of the store can test guesses of a request, and a writer can change records.':
        recordKeys.length === 0 && (production || deliveryStore.startsWith('redis')),
    }),
  }
}
