/** The environment variables of the host, and what each may hold (specification §2.8, contract §7). */
import { isIP } from 'node:net'
import { isAddress } from '@org/mailer'
// A start makes these schemas, and takes 10 ms less with the small variant of zod.
import * as z from 'zod/mini'

/** Shorter secrets can be guessed from one signed request (Standard Webhooks). */
const LEAST_SECRET_BYTES = 24

const PUNYCODE = '; a domain beyond ASCII is written as punycode, xn--…'
const trimmed = z.string().check(z.trim())

/** A value of which `matches` is true, without spaces around it. */
const text = (matches: (value: string) => boolean, error: string) =>
  z.string({ error }).check(z.trim(), z.refine(matches, { error }))

/** A value for a header. It is not trimmed: a line break in a token shows that the wrong text was pasted. */
const token = (
  pattern = /^[!-~]+$/,
  error = 'expected one line of visible ASCII characters without spaces',
) => z.string().check(z.regex(pattern, { error }))

/** A name with labels that are not empty, or an address; as `URL` writes them. */
const HOST_NAME =
  /^(?:\[[\da-f:.]+\]|(?:[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.)*[a-z\d_](?:[a-z\d_-]*[a-z\d_])?\.?)$/

function parseHttpUrl(text: string): URL | undefined {
  const url = /^https?:/.test(text) ? URL.parse(text) : null
  return url && HOST_NAME.test(url.hostname) ? url : undefined
}

/** Whether a path can follow the URL. */
function isBaseUrl(text: string): boolean {
  const url = parseHttpUrl(text)
  // `fetch` refuses a URL with a password, and quotes it in the error. The parser drops line breaks, and turns a
  // backslash into a slash.
  return url !== undefined && url.username + url.password === '' && !/[?#\s\p{C}\\]/u.test(text)
}

const httpUrl = text(
  isBaseUrl,
  'expected an http:// or https:// URL without a user name, password, query, fragment or space',
)

/** A list with at least one entry, of which each one matches. */
const list = (separator: string | RegExp, matches: (entry: string) => boolean, error: string) =>
  z
    .pipe(
      z.string(),
      z.transform((value: string) => value.split(separator).flatMap((entry) => entry.trim() || [])),
    )
    .check(z.refine((entries) => entries.length > 0 && entries.every(matches), { error }))

// A list is compared with origins and hosts of parsed URLs, so any other spelling would match nothing.
const isOrigin = (entry: string) => parseHttpUrl(entry)?.origin === entry
const isHost = (entry: string) => parseHttpUrl(`https://${entry}`)?.host === entry

function isWebhookSecret(entry: string): boolean {
  try {
    const key = atob(entry.slice('whsec_'.length))
    return entry.startsWith('whsec_') && key.length >= LEAST_SECRET_BYTES
  } catch {
    return false
  }
}

function isStore(location: string): boolean {
  // SQLite itself would take `:memory:` and `file:` for a database in memory, which forgets every record with the process.
  if (/^sqlite:(?::|file:)/.test(location)) return false
  if (location === 'memory:' || /^sqlite:\P{Cc}+$/u.test(location)) return true
  if (!/^rediss?:[!-~]+$/.test(location) || redisPassword(location) === undefined) return false
  const { hostname, pathname, search, hash } = new URL(location)
  return search + hash === '' && /^\/?\d{0,4}$/.test(pathname) && /^[\w.-]+$|^\[/.test(hostname)
}

/** The password in the location of a store; `undefined` if it can’t be decoded. */
export function redisPassword(location: string): string | undefined {
  try {
    const { username, password } = new URL(location)
    decodeURIComponent(username)
    return decodeURIComponent(password)
  } catch {
    return undefined
  }
}

const wholeNumber = (least: number, most: number, what = 'a whole number of milliseconds') =>
  z.pipe(
    text(
      // `Number` also reads 0x50, 1e3 and an empty text.
      (value) => /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most,
      `expected ${what} from ${least} to ${most}`,
    ),
    z.transform(Number),
  )

const secrets = z.optional(
  list(
    /\s+/,
    isWebhookSecret,
    `expected one or more whsec_… (base64 of at least ${LEAST_SECRET_BYTES} bytes), separated by spaces`,
  ),
)

/** The name of a package. */
export const PACKAGE = /^(@[\w.-]+\/)?\w[\w.-]*$/

const BYTES = 'a whole number of bytes, of which each 1048576 take 20 ms of the event loop,'

/** Every variable of the host. */
export const variables = z.object({
  NODE_ENV: z._default(z.string(), 'development'),
  HOST: z.optional(
    text(
      (value) => value === 'localhost' || isIP(value) > 0,
      'expected an address to listen on, such as 0.0.0.0 or 127.0.0.1',
    ),
  ),
  PORT: z._default(wholeNumber(0, 65_535, 'a port'), 3009),
  LOG_LEVEL: z._default(
    z.pipe(
      trimmed,
      z.enum(['debug', 'info', 'warn', 'error'], { error: 'expected debug, info, warn or error' }),
    ),
    'info',
  ),
  BODY_LIMIT: z._default(wholeNumber(1_024, 32 * 1024 * 1024, BYTES), 4 * 1024 * 1024),
  REQUEST_TIMEOUT_MS: z._default(wholeNumber(1_000, 900_000), 25_000),
  DRAIN_DELAY_MS: z.optional(wholeNumber(0, 300_000)),
  // Longer than the idle time of the balancers in front, or a request meets a connection that closes.
  KEEP_ALIVE_MS: z._default(wholeNumber(1_000, 600_000), 65_000),
  // A third of it must be longer than the slowest answer of a store that is not away.
  LEASE_MS: z._default(wholeNumber(6_000, 600_000), 30_000),

  PLATFORM_API_URL: httpUrl,
  PLATFORM_API_TOKEN: z.optional(token()),
  PLATFORM_WEBHOOK_SECRET: secrets,
  /** Former webhook secrets: records that they signed are still recognised. */
  RECORD_KEYS: secrets,
  WEBHOOK_AUTH: z.optional(
    z.pipe(trimmed, z.literal('none', { error: 'expected none; leave it empty otherwise' })),
  ),
  OPERATOR_TOKEN: z.optional(
    token().check(z.minLength(24, { error: 'expected at least 24 characters', abort: true })),
  ),
  CORS_ORIGINS: z.optional(
    list(',', isOrigin, `expected origins such as https://app.example.com, separated by commas${PUNYCODE}`),
  ),
  DELIVERY_STORE: z.optional(
    text(
      isStore,
      'expected memory:, sqlite:<file> or redis://host:port/database; a “%” in the password is written as %25',
    ),
  ),
  ENV_REFERENCE_ALLOW: z._default(
    list(
      ',',
      (entry) => /^([A-Za-z_]\w*)?\*?$/.test(entry),
      'expected names of variables, separated by commas; a name may end with *',
    ),
    [],
  ),
  INTEGRATIONS: z.optional(
    list(
      /[\s,]+/,
      (entry) => PACKAGE.test(entry),
      'expected names of packages such as @acme/twilio, separated by commas or spaces',
    ),
  ),
  EGRESS_ALLOW: z._default(
    list(
      ',',
      isHost,
      `expected hosts in lower case such as mail.internal or mail.internal:8443, separated by commas${PUNYCODE}`,
    ),
    [],
  ),

  MAILER_SHARED_API_TOKEN: z.optional(token()),
  MAILER_SHARED_FROM_EMAIL: z.optional(text(isAddress, `expected a@b.c or Name <a@b.c>${PUNYCODE}`)),
  MAILER_API_BASE: z.optional(httpUrl),

  IDP_SHARED_SECRET_KEY: z.optional(token(/^sk_[!-~]+$/, 'expected a secret key, sk_…')),
  IDP_SHARED_PUBLISHABLE_KEY: z.optional(token(/^pk_[!-~]+$/, 'expected a publishable key, pk_…')),
  IDP_API_BASE: z.optional(httpUrl),
  IDP_PLATFORM_API_KEY: z.optional(
    token(/^[!-~]+( +[!-~]+)*$/, 'expected visible ASCII characters, and a space between two tokens'),
  ),
  IDP_PLATFORM_API_BASE: z.optional(httpUrl),
})

/** Variables that begin with it belong to packages that the host does not know. */
export const PREFIX_OF_PACKAGES = 'INTEGRATION_'

/** Whether a variable is the host's own. On Windows, a name in another case is the same variable. */
export function isOwnName(given: string): boolean {
  const name = given.toUpperCase()
  return name.startsWith(PREFIX_OF_PACKAGES) || Object.hasOwn(variables.shape, name)
}
