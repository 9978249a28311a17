// Standard Webhooks 1.0 (contract §3):
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md

import { toBase64 } from '../base64.ts'
import { createHmac, equalTexts } from '../cryptography.ts'
import { IntegrationError } from '../errors.ts'

/**
 * Checks the signature of a request. Throws `invalid_signature` before the body is read, if no body could make it
 * valid.
 *
 * @returns the check of the body, over its raw bytes; it throws `invalid_signature`, too
 */
export type Verify = (headers: Headers) => (body: Uint8Array) => Promise<void>

/** Options of {@link createVerifier}. */
interface VerifierOptions {
  /** `whsec_…`; several during a rotation. */
  secrets: readonly string[]
  /** Allowed difference of the sender's clock, either way; 300 by default. */
  toleranceSeconds?: number
  /** @default Date.now */
  now?: () => number
}

/** A sender has one signature for each of its secrets; a forger could send any number. */
const MAX_SIGNATURES = 10
const VERSION = 'v1,'

/**
 * Makes a verifier for a set of secrets.
 *
 * @throws {TypeError} if a secret is not `whsec_` and base64
 */
export function createVerifier(options: VerifierOptions): Verify {
  const { toleranceSeconds = 300, now = Date.now } = options
  const hmacs = options.secrets.map((secret) => createHmac(decodeSecret(secret)))

  return (headers) => {
    const id = readHeader(headers, 'webhook-id')
    const timestamp = readHeader(headers, 'webhook-timestamp')
    const signatures = readHeader(headers, 'webhook-signature').split(' ')
    if (!/^[1-9]\d{0,11}$/.test(timestamp))
      throw invalid('webhook-timestamp is not a number of seconds since 1970.')
    const clock = Math.floor(now() / 1000)
    if (Math.abs(clock - Number(timestamp)) > toleranceSeconds)
      throw invalid(
        `webhook-timestamp, ${timestamp}, is more than ${toleranceSeconds} seconds away from this host’s clock, ${clock}.`,
      )
    const given = signatures.filter((signature) => signature.startsWith(VERSION)).slice(0, MAX_SIGNATURES)
    if (given.length === 0) throw invalid('webhook-signature holds no signature of the version v1.')

    return async (body: Uint8Array) => {
      for (const hmac of hmacs) {
        // Compares texts: base64 has several spellings of one digest, and a sender uses one of them.
        const expected = VERSION + toBase64(await hmac(`${id}.${timestamp}.`, body))
        if (given.some((signature) => equalTexts(expected, signature))) return
      }
      throw invalid('webhook-signature matches none of the secrets.')
    }
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
  body: string | Uint8Array
  /** @default now */
  timestamp?: Date
}): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const { id, timestamp = new Date(), body } = request
  const seconds = String(Math.floor(timestamp.getTime() / 1000))
  const signature =
    VERSION + toBase64(await createHmac(decodeSecret(request.secret))(`${id}.${seconds}.`, body))
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature }
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

const invalid = (message: string) => new IntegrationError('invalid_signature', message)
