// Standard Webhooks 1.0 (contract §3):
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

import { concat } from '../bytes.ts'
import { IntegrationError } from '../errors.ts'

/** Checks the signature over the raw bytes of a request; throws `invalid_signature`. */
export interface Verify {
  (headers: Headers, body: Uint8Array): Promise<void>
  /** Throws before the body is read, if no body could make the signature valid. */
  checkHeaders?(headers: Headers): void
}

/** HMAC-SHA256 with one secret. */
interface HmacKey {
  /** Returns the digest of the concatenated parts. */
  sign(parts: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>
  /** Compares in constant time. */
  equals(one: Uint8Array, other: Uint8Array): boolean
}

/** An implementation of HMAC-SHA256. Called once for each secret. */
export type Hmac = (secret: Uint8Array) => HmacKey

/** Options of {@link createVerifier}. */
interface VerifierOptions {
  /** `whsec_…`; several during a rotation. */
  secrets: readonly string[]
  /** Allowed difference of the sender's clock, either way; 300 by default. */
  toleranceSeconds?: number
  /** @default Date.now */
  now?: () => number
  /** @default Web Crypto, which every runtime has */
  hmac?: Hmac | undefined
}

/** A sender has one signature for each of its secrets; a forger could send any number. */
const MAX_SIGNATURES = 10

const encoder = new TextEncoder()

/**
 * Makes a verifier for a set of secrets.
 *
 * @throws {TypeError} if a secret is not `whsec_` and base64
 */
export function createVerifier(options: VerifierOptions): Verify {
  const { toleranceSeconds = 300, now = Date.now, hmac = webHmac } = options
  const keys = options.secrets.map((secret) => hmac(decodeSecret(secret)))

  function readHeaders(headers: Headers) {
    const id = readHeader(headers, 'webhook-id')
    const timestamp = readHeader(headers, 'webhook-timestamp')
    const signatures = readHeader(headers, 'webhook-signature').split(' ')
    if (!/^[1-9]\d{0,11}$/.test(timestamp))
      throw invalid('webhook-timestamp is not a number of seconds since 1970.')
    if (Math.abs(Math.floor(now() / 1000) - Number(timestamp)) > toleranceSeconds)
      throw invalid(`webhook-timestamp is more than ${toleranceSeconds} seconds away from this host’s clock.`)
    const given = signatures
      .filter((signature) => signature.startsWith('v1,'))
      .slice(0, MAX_SIGNATURES)
      .map((signature) => encoder.encode(signature.slice('v1,'.length)))
    if (given.length === 0) throw invalid('webhook-signature holds no signature of the version v1.')
    return { id, timestamp, given }
  }

  async function verify(headers: Headers, body: Uint8Array): Promise<void> {
    const { id, timestamp, given } = readHeaders(headers)
    const content = [encoder.encode(`${id}.${timestamp}.`), body]
    for (const key of keys) {
      // Compares texts: base64 has several spellings of one digest, and a sender uses one of them.
      const expected = encoder.encode(toBase64(await key.sign(content)))
      if (given.some((signature) => key.equals(expected, signature))) return
    }
    throw invalid('webhook-signature matches none of the secrets.')
  }

  return Object.assign(verify, { checkHeaders: (headers: Headers) => void readHeaders(headers) })
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
  body: string | Uint8Array
  /** @default now */
  timestamp?: Date
  /** @default Web Crypto */
  hmac?: Hmac | undefined
}): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const { id, timestamp = new Date(), hmac = webHmac } = request
  const seconds = String(Math.floor(timestamp.getTime() / 1000))
  const body = typeof request.body === 'string' ? encoder.encode(request.body) : request.body
  const digest = await hmac(decodeSecret(request.secret)).sign([encoder.encode(`${id}.${seconds}.`), body])
  const signature = `v1,${toBase64(digest)}`
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature }
}

const webHmac: Hmac = (secret) => {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = crypto.subtle.importKey('raw', new Uint8Array(secret), algorithm, false, ['sign'])
  return {
    sign: async (parts) => new Uint8Array(await crypto.subtle.sign('HMAC', await key, concat(parts))),
    equals(one, other) {
      let difference = one.length ^ other.length
      for (const [at, byte] of one.entries()) difference |= byte ^ (other[at] ?? 0)
      return difference === 0
    },
  }
}

function readHeader(headers: Headers, name: string): string {
  const value = headers.get(name)
  if (value) return value
  throw invalid(
    `The request is not signed: it has no ${name}. It needs webhook-id, webhook-timestamp and webhook-signature.`,
  )
}

function decodeSecret(secret: string): Uint8Array<ArrayBuffer> {
  try {
    const bytes = Uint8Array.from(atob(secret.slice('whsec_'.length)), (character) => character.charCodeAt(0))
    if (secret.startsWith('whsec_') && bytes.length > 0) return bytes
  } catch {
    // Not base64: reported below.
  }
  throw new TypeError('A webhook secret must be “whsec_” and base64.')
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function invalid(message: string): IntegrationError {
  return new IntegrationError('invalid_signature', message)
}
