// Responses and recorded steps name people: a user, the recipients of a mail. The store holds them encrypted, under
// a key that is derived from the request body (HKDF). The store never sees the body, so its readers cannot decrypt;
// a redelivery brings the same body, and nobody else needs the record. The store also holds the SHA-256 of the
// body; the key does not follow from it.

import * as z from 'zod'
import type { Json } from '../contract/handler-context.ts'
import { IntegrationError } from '../errors.ts'
import type { Claim } from './claim.ts'
import type { EventResponse } from './response.ts'
import type { RecordedResponse } from './store.ts'

/** Encrypts and decrypts under the key of one request. */
export type Cipher = ReturnType<typeof createCipher>

const encoder = new TextEncoder()
const INFO = encoder.encode('integration host: record of a delivery, version 1')
const PREFIX = 'sealed:'
const SALT_BYTES = 16
const IV_BYTES = 12

/** Whether a recorded text is encrypted. */
export function isEncrypted(text: string): boolean {
  return text.startsWith(PREFIX)
}

/** Makes the cipher of a request, from the bytes of its body. */
export function createCipher(body: Uint8Array<ArrayBuffer>) {
  const ownSalt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  let ownKey: Promise<CryptoKey> | undefined

  return {
    async encrypt(text: string): Promise<string> {
      ownKey ??= deriveKey(body, ownSalt)
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const plain = encoder.encode(text)
      const encrypted = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await ownKey, plain)
      return PREFIX + toBase64(ownSalt, iv, new Uint8Array(encrypted))
    },
    /** @throws if the text is damaged, or belongs to another request */
    async decrypt(text: string): Promise<string> {
      if (!isEncrypted(text)) throw new TypeError('The text is not encrypted.')
      const bytes = Uint8Array.from(atob(text.slice(PREFIX.length)), (character) => character.charCodeAt(0))
      const key = await deriveKey(body, bytes.subarray(0, SALT_BYTES))
      const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES)
      const encrypted = bytes.subarray(SALT_BYTES + IV_BYTES)
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, encrypted)
      return new TextDecoder().decode(plain)
    },
  }
}

/**
 * The recorded response of a delivery.
 *
 * @throws {IntegrationError} `outcome_unknown` if the record is damaged: the work was done, and must not be
 * repeated
 */
export async function decryptResponse(recorded: RecordedResponse, cipher: Cipher): Promise<EventResponse> {
  try {
    return { status: recorded.status, json: await cipher.decrypt(recorded.body), replayed: true }
  } catch (cause) {
    const message = 'This delivery was answered before, but the record of its response is unreadable.'
    const hint = 'Check at the provider whether it took effect.'
    throw new IntegrationError('outcome_unknown', message, { hint, cause })
  }
}

/** A claim whose lists and objects are stored encrypted. Scalars (ids, step names) are stored in clear. */
export async function withEncryptedSteps(claim: Claim, cipher: Cipher): Promise<Claim> {
  for (const [name, value] of Object.entries(claim.progress))
    claim.progress[name] = await decryptStep(value, cipher)
  return {
    ...claim,
    advance(name, value, by) {
      const isScalar = typeof value !== 'object' || value === null
      return claim.advance(name, value, by, isScalar ? undefined : cipher.encrypt(JSON.stringify(value)))
    },
  }
}

/** A step that cannot be decrypted stays as it is; its reader will not understand it. */
async function decryptStep(value: Json, cipher: Cipher): Promise<Json> {
  if (typeof value !== 'string' || !isEncrypted(value)) return value
  try {
    return z.json().parse(JSON.parse(await cipher.decrypt(value)))
  } catch {
    return value
  }
}

async function deriveKey(body: Uint8Array<ArrayBuffer>, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', body, 'HKDF', false, ['deriveKey'])
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt, info: INFO }
  const key = { name: 'AES-GCM', length: 256 }
  return crypto.subtle.deriveKey(derivation, material, key, false, ['encrypt', 'decrypt'])
}

/** Bytes per `fromCharCode` call: the number of its arguments is limited. */
const CHUNK = 0x8000

function toBase64(...parts: Uint8Array[]): string {
  let text = ''
  for (const bytes of parts)
    for (let at = 0; at < bytes.length; at += CHUNK)
      text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}
