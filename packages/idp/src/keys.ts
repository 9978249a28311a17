/**
 * The two keys of an application: what they are made of, and what people paste instead.
 *
 * @module
 */
import { type FieldError, IntegrationError } from '@org/core/errors'

/** Whether an instance is for trying or for real users; keys say `test` or `live`. */
export type Environment = 'development' | 'production'

/** What a publishable key says. */
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
 * Takes a publishable key apart: `pk_test_` or `pk_live_`, and in base64 the frontend's host and `$`.
 *
 * @throws {IntegrationError} `invalid_inputs`, with a sentence on what is wrong with it; it never repeats the key
 *
 * @example
 * ```ts
 * parsePublishableKey('pk_test_aGFwcHktY2F0LTEyLmNsZXJrLmFjY291bnRzLmRldiQ').frontendApiUrl
 * // https://happy-cat-12.clerk.accounts.dev
 * ```
 */
export function parsePublishableKey(key: string): PublishableKey {
  const read = readPublishableKey(key)
  if (!('fault' in read)) return read
  throw new IntegrationError('invalid_inputs', `publishableKey ${read.fault}.`, {
    errors: [{ path: 'publishableKey', message: read.fault }],
  })
}

/**
 * What speaks against two keys, as far as that shows without asking the provider: for each key a sentence that
 * says what to do, and never repeats the key.
 */
export function findKeyFaults({ publishableKey, secretKey }: InstanceKeys): FieldError[] {
  if (publishableKey.startsWith('sk_') && secretKey.startsWith('pk_')) {
    const message = 'holds the secret key, and secretKey the publishable one: swap them'
    return [{ path: 'publishableKey', message }]
  }
  const publishable = readPublishableKey(publishableKey)
  const secret = readSecretKey(secretKey)
  const faults: FieldError[] = []
  if ('fault' in publishable) faults.push({ path: 'publishableKey', message: publishable.fault })
  if ('fault' in secret) faults.push({ path: 'secretKey', message: secret.fault })
  if ('fault' in publishable || 'fault' in secret) return faults
  if (publishable.environment === secret.environment) return []
  const message = `is of a ${secret.environment} instance, and publishableKey of a ${publishable.environment} one: take both keys from one instance`
  return [{ path: 'secretKey', message }]
}

interface Fault {
  /** The rest of a sentence that begins with the name of the field. */
  fault: string
}

/** What is wrong with a text, whichever key it should be; `undefined` where it looks like a bare key. */
function findCommonFault(key: string, name: 'publishable' | 'secret'): string | undefined {
  if (/^\s|\s$/.test(key)) return 'has white space around it: remove it'
  if (/^(export\s+)?[A-Z][A-Z0-9_]*\s*=/.test(key)) {
    return 'is a whole line of an .env file: keep only what stands behind the “=”, without quotes'
  }
  if (/^["'`“‘]|["'`”’]$/.test(key)) return 'has quotes around it: remove them'
  if (/\.{3}|…|\*{3}|•|[<>]|your[_-]|_x+$|x{8}/i.test(key)) {
    return `is a placeholder or masked: copy the real ${name} key, with the provider’s copy button`
  }
  if (/\s/.test(key)) return 'has white space in it: copy the key again, in one piece'
  return undefined
}

function readPublishableKey(key: string): PublishableKey | Fault {
  const common = findCommonFault(key, 'publishable')
  if (common) return { fault: common }
  if (key.startsWith('sk_')) {
    return { fault: 'is a secret key: put it into secretKey, and the one that starts with pk_ here' }
  }
  if (decodeBase64(key)?.endsWith('$')) {
    return { fault: 'lacks its beginning, pk_test_ or pk_live_: copy the whole key' }
  }
  if (!key.startsWith('pk_')) {
    return { fault: 'is no publishable key: copy the one that starts with pk_test_ or pk_live_' }
  }
  const environment = readEnvironment(key)
  if (!environment) return { fault: 'is neither pk_test_ nor pk_live_: copy the key again, from its start' }
  const encoded = key.slice('pk_test_'.length)
  if (encoded === '') return { fault: 'ends after its prefix: copy the whole key' }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) {
    return { fault: 'is damaged, for what follows its prefix is not base64: copy the key again' }
  }
  const decoded = decodeBase64(encoded)
  if (!decoded?.endsWith('$')) return { fault: 'is cut off: copy the whole key, to its end' }
  const frontendHost = decoded.slice(0, -1).toLowerCase()
  if (!frontendHost.includes('.')) {
    return { fault: 'names a host without a dot, which no frontend has: copy the key from the provider' }
  }
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?$/.test(frontendHost)) {
    return { fault: 'is damaged, for it does not name a host: copy the key again' }
  }
  return { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
}

/** Real keys have 42 characters behind the prefix; what is much shorter was cut off. */
const SHORTEST_SECRET = 20

function readSecretKey(key: string): { environment: Environment } | Fault {
  const common = findCommonFault(key, 'secret')
  if (common) return { fault: common }
  if (key.startsWith('pk_')) {
    return {
      fault: 'is a publishable key: put it into publishableKey, and the one that starts with sk_ here',
    }
  }
  if (!key.startsWith('sk_')) {
    return { fault: 'is no secret key: copy the one that starts with sk_test_ or sk_live_' }
  }
  const environment = readEnvironment(key)
  if (!environment) return { fault: 'is neither sk_test_ nor sk_live_: copy the key again, from its start' }
  const rest = key.slice('sk_test_'.length)
  if (!/^[A-Za-z0-9_-]*$/.test(rest)) return { fault: 'has characters that no key has: copy the key again' }
  if (rest.length < SHORTEST_SECRET) return { fault: 'is too short to be whole: copy it to its end' }
  return { environment }
}

function readEnvironment(key: string): Environment | undefined {
  if (/^[ps]k_test_/.test(key)) return 'development'
  if (/^[ps]k_live_/.test(key)) return 'production'
  return undefined
}

function decodeBase64(encoded: string): string | undefined {
  try {
    return atob(encoded)
  } catch {
    return undefined
  }
}
