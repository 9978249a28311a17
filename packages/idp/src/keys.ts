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
  /** The host of the frontend API. */
  frontendHost: string
  frontendApiUrl: string
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
  const result = readPublishableKey(key)
  if (typeof result === 'string') throw invalidKeys([{ path: 'publishableKey', message: result }])
  return result
}

/**
 * Whether two keys can belong together, as far as that shows without asking the provider.
 *
 * @returns what the publishable key says
 * @throws {IntegrationError} `invalid_inputs`, with a sentence for each key on what to do
 */
export function parseKeyPair(publishableKey: string, secretKey: string): PublishableKey {
  if (publishableKey.startsWith('sk_') && secretKey.startsWith('pk_')) {
    throw invalidKeys([
      {
        path: 'publishableKey',
        message: 'holds the secret key, and secretKey the publishable one: swap them',
      },
    ])
  }
  const publishable = readPublishableKey(publishableKey)
  const secret = readSecretKey(secretKey)
  const errors: FieldError[] = []
  if (typeof publishable === 'string') errors.push({ path: 'publishableKey', message: publishable })
  if ('fault' in secret) errors.push({ path: 'secretKey', message: secret.fault })
  if (typeof publishable === 'string' || 'fault' in secret) throw invalidKeys(errors)
  if (publishable.environment !== secret.environment) {
    const message = `is of a ${secret.environment} instance, and publishableKey of a ${publishable.environment} one: take both keys from one instance`
    throw invalidKeys([{ path: 'secretKey', message }])
  }
  return publishable
}

/** What is wrong with a text, whichever key it should be; `undefined` where it looks like a bare key. */
function commonFault(key: string, name: 'publishable' | 'secret'): string | undefined {
  if (/^\s|\s$/.test(key)) return 'has white space around it: remove it'
  if (/^["'`“‘]|["'`”’]$/.test(key)) return 'has quotes around it: remove them'
  if (/^[A-Z][A-Z0-9_]*\s*=/.test(key))
    return 'is a whole line of an .env file: keep only what stands behind the “=”'
  if (/\s/.test(key)) return 'has white space in it: copy the key again, in one piece'
  if (/\.{3}|…|x{4,}|\*{3,}|•/i.test(key)) {
    return `is a placeholder or masked: copy the real ${name} key, with the provider’s copy button`
  }
  return undefined
}

function readPublishableKey(key: string): PublishableKey | string {
  const common = commonFault(key, 'publishable')
  if (common) return common
  if (key.startsWith('sk_'))
    return 'is a secret key: put it into secretKey, and the one that starts with pk_ here'
  if (!key.startsWith('pk_')) return 'is no publishable key: those start with pk_test_ or pk_live_'
  const environment = environmentOf(key)
  if (!environment) return 'is neither pk_test_ nor pk_live_: copy the key again, from its start'
  const encoded = key.slice('pk_test_'.length)
  if (encoded === '') return 'ends after its prefix: copy the whole key'
  const decoded = decodeBase64(encoded)
  if (decoded === undefined) return 'is damaged: what follows its prefix is not base64; copy the key again'
  if (!decoded.endsWith('$')) return 'is cut off: copy the whole key, to its end'
  const frontendHost = decoded.slice(0, -1)
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+(:\d+)?$/i.test(frontendHost))
    return 'names no host of a frontend: copy the key again'
  return { environment, frontendHost, frontendApiUrl: `https://${frontendHost}` }
}

/** Real keys have 42 characters behind the prefix; what is much shorter was cut off. */
const SHORTEST_SECRET = 20

function readSecretKey(key: string): { environment: Environment } | { fault: string } {
  const common = commonFault(key, 'secret')
  if (common) return { fault: common }
  if (key.startsWith('pk_'))
    return {
      fault: 'is a publishable key: put it into publishableKey, and the one that starts with sk_ here',
    }
  if (!key.startsWith('sk_')) return { fault: 'is no secret key: those start with sk_test_ or sk_live_' }
  const environment = environmentOf(key)
  if (!environment) return { fault: 'is neither sk_test_ nor sk_live_: copy the key again, from its start' }
  const rest = key.slice('sk_test_'.length)
  if (!/^[A-Za-z0-9_-]*$/.test(rest)) return { fault: 'has characters that no key has: copy the key again' }
  if (rest.length < SHORTEST_SECRET) return { fault: 'is cut off: copy the whole key, to its end' }
  return { environment }
}

function environmentOf(key: string): Environment | undefined {
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

function invalidKeys(errors: FieldError[]): IntegrationError {
  const message = errors.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new IntegrationError('invalid_inputs', `The keys do not fit: ${message}.`, {
    errors: errors.map(({ path, message }) => ({ path: `deployment.inputs.${path}`, message })),
  })
}
