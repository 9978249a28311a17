/** The two keys of an instance: their format, and the mistakes that people make when they copy them. */
import { type FieldError, IntegrationError } from '@org/core/errors'

/** The environment of an instance. Its keys contain `test` or `live`. */
export type Environment = 'development' | 'production'

/** The content of a publishable key. */
export interface PublishableKey {
  environment: Environment
  /** The host of the frontend API, in lower case. */
  frontendHost: string
  frontendApiUrl: string
}

/** Both keys of one instance. */
export interface InstanceKeys {
  publishableKey: string
  secretKey: string
}

/**
 * Parses a publishable key: `pk_test_` or `pk_live_`, then the frontend host and `$` in base64.
 *
 * @throws {IntegrationError} `invalid_inputs`, with a sentence about the fault that never repeats the key
 *
 * @example
 * ```ts
 * parsePublishableKey('pk_test_aGFwcHktY2F0LTEyLmNsZXJrLmFjY291bnRzLmRldiQ').frontendApiUrl
 * // https://happy-cat-12.clerk.accounts.dev
 * ```
 */
export function parsePublishableKey(key: string): PublishableKey {
  const read = readPublishableKey(key)
  if (typeof read !== 'string') return read
  throw new IntegrationError('invalid_inputs', `publishableKey ${read}.`, {
    errors: [{ path: 'publishableKey', message: read }],
  })
}

/**
 * Finds the faults of two keys that show without a call to the provider. Each is a sentence that says what to
 * do, and never repeats the key.
 */
export function findKeyFaults({ publishableKey, secretKey }: InstanceKeys): FieldError[] {
  const publishable = readPublishableKey(publishableKey)
  const secret = readSecretKey(secretKey)
  if (typeof publishable !== 'string' && typeof secret !== 'string') {
    if (publishable.environment === secret.environment) return []
    const message = `belongs to a ${secret.environment} instance, and publishableKey to a ${publishable.environment} one: copy both keys from one instance`
    return [{ path: 'secretKey', message }]
  }
  return Object.entries({ publishableKey: publishable, secretKey: secret }).flatMap(([path, read]) =>
    typeof read === 'string' ? [{ path, message: read }] : [],
  )
}

/** A sentence without its subject, which is the name of the field. */
type Fault = string

const MISSING = 'is missing: copy it from the application’s settings at the provider, under “API keys”'

function readPublishableKey(key: string): PublishableKey | Fault {
  if (key === '') return MISSING
  if (key.startsWith('sk_'))
    return 'is a secret key: put it into secretKey, and the key that starts with pk_ here'
  const environment = readEnvironment(key, 'pk')
  if (!environment)
    return 'does not start with pk_test_ or pk_live_: copy the whole key alone, without quotes'
  const encoded = key.slice('pk_test_'.length)
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded))
    return 'is damaged, because its second part is not base64: copy the key again'
  const decoded = decodeBase64(encoded)
  if (!decoded?.endsWith('$')) return 'is cut off: copy the whole key'
  const frontendHost = decoded.slice(0, -1).toLowerCase()
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/.test(frontendHost))
    return 'is damaged, because it does not name a host: copy the key again'
  return { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
}

/** The shortest secret key, without its prefix. Real keys have 42 characters there. */
export const MIN_SECRET_LENGTH = 20

function readSecretKey(key: string): { environment: Environment } | Fault {
  if (key === '') return MISSING
  if (key.startsWith('pk_'))
    return 'is a publishable key: put it into publishableKey, and the key that starts with sk_ here'
  const environment = readEnvironment(key, 'sk')
  if (!environment)
    return 'does not start with sk_test_ or sk_live_: copy the whole key alone, without quotes'
  const rest = key.slice('sk_test_'.length)
  if (!/^[A-Za-z0-9_-]*$/.test(rest))
    return 'contains characters that no key has: copy the real key, with the provider’s copy button'
  return rest.length < MIN_SECRET_LENGTH ? 'is too short: copy the whole key' : { environment }
}

function readEnvironment(key: string, kind: 'pk' | 'sk'): Environment | undefined {
  if (key.startsWith(`${kind}_test_`)) return 'development'
  return key.startsWith(`${kind}_live_`) ? 'production' : undefined
}

function decodeBase64(encoded: string): string | undefined {
  try {
    return atob(encoded)
  } catch {
    return undefined
  }
}
