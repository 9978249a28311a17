/**
 * The keys of a host's records. The digest of a body and the cipher for its record come from the body and from a key of
 * the host that is not in the store: without the key, a reader of the store can neither decrypt a record nor test a
 * guess of a body.
 */
import { concat } from '../bytes.ts'
import { fromBase64, toBase64 } from './base64.ts'
import { DEFLATED, deflate, inflate } from './deflate.ts'
import type { ClaimRequest, ClaimResult, DeliveryStore } from './store.ts'

/** The SHA-256 of a body. */
export type BodyHash = Uint8Array<ArrayBuffer>
/** Makes the digests of a body, and the cipher for its record. */
export type RecordKeys = ReturnType<typeof createRecordKeys>
/** Encrypts and decrypts under the keys of one request. */
export type Cipher = ReturnType<RecordKeys['cipher']>

const encoder = new TextEncoder()
/** The start of an encrypted text; base64 follows. */
export const PREFIX = 'sealed:'
/** The results of a batch have megabytes, and a tenth of it compressed. In UTF-16 units. */
const LONG_TEXT = 64 * 1024
const SALT_BYTES = 16
/** Each text has a key of its own, by its salt, so that its initialization vector need not be stored. */
const IV = new Uint8Array(12)
/** Of a host that has no key. Everyone knows it, so a reader of the store can test guesses of a body. */
const PUBLIC_KEY = 'integration host: records without a key'
/** Keeps the uses of a key apart. */
const uses = {
  digest: encoder.encode('digest of a body, version 2'),
  cipher: encoder.encode('record, version 3'),
}

/** Whether a recorded text is encrypted. */
export function isEncrypted(text: string): boolean {
  return text.startsWith(PREFIX)
}

/**
 * Makes the keys of a host's records.
 *
 * @param keys the first one is used, and records of all are recognised: a rotation adds a key before it removes one
 */
export function createRecordKeys(keys: readonly string[] = []) {
  // A host may have had no key before.
  const last = createKey(PUBLIC_KEY)
  const all = [...keys.map(createKey), last]
  const [current = last] = all

  return {
    /** The digests that may be recorded for a body with this hash, the current one first. */
    async *digests(hash: BodyHash): AsyncGenerator<string> {
      for (const key of all) yield toHex(await key(uses.digest, hash))
      // Of a version without keys.
      yield toHex(hash)
    },

    /**
     * Makes the cipher of a request.
     *
     * @param subject what is claimed; a record of another subject or delivery cannot be decrypted
     */
    cipher(hash: BodyHash, subject: string, delivery: string | undefined) {
      async function derive(key: Key, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
        const bytes = await key(uses.cipher, salt, hash)
        return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
      }

      const bind = (what: string) => {
        const additionalData = encoder.encode(JSON.stringify([subject, delivery ?? null, what]))
        return { name: 'AES-GCM', iv: IV, additionalData }
      }

      return {
        /**
         * @param text JSON; a long one is compressed
         * @param what the kind of text, such as `response 200`: as another kind it cannot be decrypted
         */
        async encrypt(text: string, what: string): Promise<string> {
          const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
          const key = await derive(current, salt)
          const plain = text.length > LONG_TEXT ? await deflate(text) : encoder.encode(text)
          const encrypted = await crypto.subtle.encrypt(bind(what), key, plain)
          return PREFIX + (await toBase64(concat([salt, new Uint8Array(encrypted)])))
        },

        /** @throws if the text is damaged, of another kind, or belongs to another request or host */
        async decrypt(text: string, what: string): Promise<string> {
          if (!isEncrypted(text)) throw new TypeError('The text is not encrypted.')
          const bytes = await fromBase64(text.slice(PREFIX.length))
          const salt = bytes.subarray(0, SALT_BYTES)
          const encrypted = bytes.subarray(SALT_BYTES)
          const attempts = all.map(async (key) =>
            crypto.subtle.decrypt(bind(what), await derive(key, salt), encrypted),
          )
          const plain = new Uint8Array(await Promise.any(attempts))
          return plain[0] === DEFLATED ? inflate(plain) : new TextDecoder().decode(plain)
        },
      }
    },
  }
}

/** A claim of a delivery whose record may have any of several digests. */
export interface DigestedRequest extends Omit<ClaimRequest, 'delivery'> {
  delivery?: { id: string; digests: AsyncIterable<string> } | undefined
}

/** Claims with the current digest of the body, and with the others if the record has another one. */
export async function claimByDigest(
  store: Pick<DeliveryStore, 'claim'>,
  { delivery, ...request }: DigestedRequest,
): Promise<ClaimResult> {
  if (!delivery) return store.claim(request)
  for await (const digest of delivery.digests) {
    const result = await store.claim({ ...request, delivery: { id: delivery.id, digest } })
    if (result.state !== 'mismatch') return result
  }
  return { state: 'mismatch' }
}

/** HMAC-SHA256 of the concatenated parts. */
type Key = (...parts: Uint8Array<ArrayBuffer>[]) => Promise<Uint8Array<ArrayBuffer>>

function createKey(text: string): Key {
  let imported: Promise<CryptoKey> | undefined
  return async (...parts) => {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' }
    imported ??= crypto.subtle.importKey('raw', encoder.encode(text), algorithm, false, ['sign'])
    return new Uint8Array(await crypto.subtle.sign('HMAC', await imported, concat(parts)))
  }
}

/** Hashes a body. Its records need nothing else of it. */
export async function hashBody(body: Uint8Array<ArrayBuffer>): Promise<BodyHash> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', body))
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
