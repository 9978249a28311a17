/**
 * Encryption of what a store keeps, under a key that comes from the request itself. The store never sees the
 * request, so nobody who reads the store can open what is in it; a redelivery of the same request brings the
 * key again, and nobody else has a use for the record.
 *
 * The store also holds the SHA-256 of the request. The key is another function of it (HKDF), and does not
 * follow from the digest.
 *
 * @module
 */

/** Closes what is written for one request, and opens what was written for the same one. */
export interface Seal {
  close(value: unknown): Promise<string>
  /** @throws where the text is damaged, or was closed for another request */
  open(text: string): Promise<unknown>
}

const encoder = new TextEncoder()
const INFO = encoder.encode('integration host: record of a delivery, version 1')
const MARK = 'sealed:'
const SALT_BYTES = 16
const IV_BYTES = 12

/** Whether a text looks like one that was closed. */
export function isSealed(text: string): boolean {
  return text.startsWith(MARK)
}

/**
 * Makes the seal of a request.
 *
 * @param request the bytes of its body
 */
export function createSeal(request: Uint8Array<ArrayBuffer>): Seal {
  const ownSalt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  let own: Promise<CryptoKey> | undefined

  return {
    async close(value) {
      own ??= deriveKey(request, ownSalt)
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
      const plain = encoder.encode(JSON.stringify(value))
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await own, plain)
      return MARK + toBase64(ownSalt, iv, new Uint8Array(sealed))
    },
    async open(text) {
      if (!isSealed(text)) throw new TypeError('This was not sealed.')
      const bytes = Uint8Array.from(atob(text.slice(MARK.length)), (character) => character.charCodeAt(0))
      const key = await deriveKey(request, bytes.subarray(0, SALT_BYTES))
      const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES)
      const sealed = bytes.subarray(SALT_BYTES + IV_BYTES)
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed)
      return JSON.parse(new TextDecoder().decode(plain))
    },
  }
}

async function deriveKey(
  request: Uint8Array<ArrayBuffer>,
  salt: Uint8Array<ArrayBuffer>,
): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', request, 'HKDF', false, ['deriveKey'])
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info: INFO },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

/** Bytes that are turned into text at a time: a call takes only so many arguments. */
const PIECE = 0x8000

function toBase64(...parts: Uint8Array[]): string {
  let text = ''
  for (const bytes of parts)
    for (let at = 0; at < bytes.length; at += PIECE)
      text += String.fromCharCode(...bytes.subarray(at, at + PIECE))
  return btoa(text)
}
