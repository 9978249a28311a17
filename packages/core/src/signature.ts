/**
 * Standard Webhooks 1.0: who sent a request, and whether it is whole (contract §3).
 *
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * @module
 */
import { IntegrationError } from './errors.ts'

/** Checks the signature of a request over its raw bytes; throws `invalid_signature` where it does not fit. */
export type Verify = (headers: Headers, body: Uint8Array<ArrayBuffer>) => Promise<void>

/** Options of {@link createVerifier}. */
export interface VerifierOptions {
  /** `whsec_…`; several while they are rotated. */
  secrets: readonly string[]
  /**
   * How far the sender's clock may be off, in seconds, either way.
   * @default 300
   */
  toleranceSeconds?: number
  /**
   * The time in milliseconds since 1970.
   * @default Date.now
   */
  now?: () => number
}

const encoder = new TextEncoder()

/**
 * Makes the check for a set of secrets.
 *
 * @throws {TypeError} where a secret is not `whsec_` and base64
 */
export function createVerifier(options: VerifierOptions): Verify {
  const { toleranceSeconds = 300, now = Date.now } = options
  const keys = options.secrets.map(importKey)
  return async (headers, body) => {
    const id = headers.get('webhook-id')
    const timestamp = headers.get('webhook-timestamp')
    const signatures = headers.get('webhook-signature')
    if (!id || !timestamp || !signatures) {
      throw refused(
        'The request is not signed: webhook-id, webhook-timestamp and webhook-signature are needed.',
      )
    }
    if (!/^\d{1,12}$/.test(timestamp))
      throw refused('webhook-timestamp is not a number of seconds since 1970.')
    if (Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
      throw refused(`webhook-timestamp is more than ${toleranceSeconds} seconds away from this host’s clock.`)
    }
    const content = signedContent(id, timestamp, body)
    const given = signatures
      .split(' ')
      .filter((signature) => signature.startsWith('v1,'))
      .slice(0, 10)
      .flatMap((signature) => decodeBase64(signature.slice(3)) ?? [])
    for (const key of await Promise.all(keys)) {
      for (const signature of given) {
        // crypto.subtle.verify compares in constant time.
        if (await crypto.subtle.verify('HMAC', key, signature, content)) return
      }
    }
    throw refused('webhook-signature fits none of the secrets.')
  }
}

/**
 * Signs a body as the platform does.
 *
 * @returns the three headers of a signed request
 */
export async function sign(request: {
  /** `whsec_…` */
  secret: string
  id: string
  body: string | Uint8Array<ArrayBuffer>
  /** @default now */
  timestamp?: Date
}): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor((request.timestamp ?? new Date()).getTime() / 1000))
  const body = typeof request.body === 'string' ? encoder.encode(request.body) : request.body
  const key = await importKey(request.secret)
  const digest = await crypto.subtle.sign('HMAC', key, signedContent(request.id, timestamp, body))
  return {
    'webhook-id': request.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(digest)))}`,
  }
}

function importKey(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith('whsec_') ? decodeBase64(secret.slice('whsec_'.length)) : undefined
  if (!bytes || bytes.length === 0) throw new TypeError('A webhook secret is “whsec_” and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function signedContent(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`)
  const content = new Uint8Array(head.length + body.length)
  content.set(head)
  content.set(body, head.length)
  return content
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function refused(message: string): IntegrationError {
  return new IntegrationError('invalid_signature', message)
}
