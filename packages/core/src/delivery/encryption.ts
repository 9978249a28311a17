/**
 * The keys of a host's records. The digest of a body and the cipher for its record come from the body and from a key of
 * the host that is not in the store: without the key, a reader of the store can neither decrypt a record nor test a
 * guess of a body, and a writer can't sign one.
 */
import * as z from 'zod'
import { toBase64 } from '../base64.ts'
import type { Json } from '../contract/handler-context.ts'
import { concat, createHmac, decrypt, encrypt, equalTexts, fromBase64, type Hmac } from '../cryptography.ts'

/** The SHA-256 of a body. */
export type BodyHash = BufferSource & Uint8Array
/** Makes the digests of a body, and the cipher for its record. */
export type RecordKeys = ReturnType<typeof createRecordKeys>
/** Encrypts and decrypts under the keys of one request. */
export type Cipher = ReturnType<RecordKeys['cipher']>

const encoder = new TextEncoder()
/** The results of a batch have megabytes, and a tenth of it compressed. In UTF-16 units. */
const LONG_TEXT = 16 * 1024
/** The first byte of a compressed text (RFC 1950); JSON never begins with it. */
const DEFLATED = 0x78
const SALT_BYTES = 16
/** Each text has a key of its own, by its salt, so that its initialization vector need not be stored. */
const IV = new Uint8Array(12)
/** Of a host that has no key. Everyone knows it. */
const PUBLIC_KEY = 'integration host: records without a key'
/** Keeps the uses of a key apart. */
const uses = { digest: 'digest of a body, version 3', cipher: 'record, version 3', mac: 'MAC, version 1' }
/** The lengths in base64: 12 bytes tell bodies apart, and nobody can guess 18. */
const DIGEST_LENGTH = 16
const MAC_LENGTH = 24

/**
 * Makes the keys of a host's records.
 *
 * @param texts the first one is used, and records of all are recognised: a rotation adds a key before it removes one
 */
export function createRecordKeys(texts: readonly string[] = []) {
  const [first = PUBLIC_KEY, ...others] = texts
  const current = createHmac(encoder.encode(first))
  const all = [current, ...others.map((text) => createHmac(encoder.encode(text)))]
  const mac = async (key: Hmac, subject: string, text: string) =>
    toBase64(await key(uses.mac, JSON.stringify(subject), text)).slice(0, MAC_LENGTH)

  return {
    /** Makes the MAC of a record, 24 characters. */
    sign: (subject: string, text: string) => mac(current, subject, text),

    /** Whether a host with one of the keys signed a record. */
    async isSigned(given: string, subject: string, text: string): Promise<boolean> {
      for (const key of all) if (equalTexts(given, await mac(key, subject, text))) return true
      return false
    },

    /** The digests that may be recorded for a body with this hash, the current one first. */
    async *digests(hash: BodyHash): AsyncGenerator<string> {
      for (const key of all) yield toBase64(await key(uses.digest, hash)).slice(0, DIGEST_LENGTH)
    },

    /**
     * Makes the cipher of a request.
     *
     * @param subject what is claimed; a record of another subject or delivery cannot be decrypted
     */
    cipher(hash: BodyHash, subject: string, delivery: string | undefined) {
      const derive = (key: Hmac, salt: Uint8Array) => key(uses.cipher, salt, hash)
      const bind = (what: string) => ({
        iv: IV,
        additionalData: encoder.encode(JSON.stringify([subject, delivery ?? null, what])),
      })

      return {
        /**
         * Encrypts a text, in base64.
         *
         * @param text JSON; a long one is compressed
         * @param what the kind of text, such as `response 200`: as another kind it cannot be decrypted
         */
        async encrypt(text: string, what: string): Promise<string> {
          const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
          const key = await derive(current, salt)
          const plain = encoder.encode(text)
          const deflated =
            text.length > LONG_TEXT ? convert(plain, new CompressionStream('deflate')) : undefined
          const bytes = deflated ? new Uint8Array(await deflated.arrayBuffer()) : plain
          return toBase64(concat([salt, await encrypt(key, bind(what), bytes)]))
        },

        /** @throws if the text is damaged, of another kind, or belongs to another request or host */
        async decrypt(text: string, what: string): Promise<string> {
          const bytes = fromBase64(text)
          const salt = bytes.subarray(0, SALT_BYTES)
          const encrypted = bytes.subarray(SALT_BYTES)
          const attempts = all.map(async (key) => decrypt(await derive(key, salt), bind(what), encrypted))
          const plain = await Promise.any(attempts)
          if (plain[0] !== DEFLATED) return new TextDecoder().decode(plain)
          return convert(plain, new DecompressionStream('deflate')).text()
        },
      }
    },
  }
}

const convert = (data: Uint8Array<ArrayBuffer>, by: CompressionStream | DecompressionStream) =>
  new Response(new Blob([data]).stream().pipeThrough(by))

type Steps = Record<string, Json>

/** The start of an encrypted step. */
const PREFIX = 'encrypted:'

/** Whether a recorded step is encrypted. */
export function isEncrypted(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(PREFIX)
}

/** Encrypts the lists and objects of recorded steps, which name people. Scalars (ids, states) are stored in clear. */
export async function encryptSteps(steps: Steps, cipher: Cipher): Promise<Steps> {
  const encrypted: Steps = {}
  for (const [name, value] of Object.entries(steps)) {
    const isScalar = typeof value !== 'object' || value === null
    encrypted[name] = isScalar
      ? value
      : PREFIX + (await cipher.encrypt(JSON.stringify(value), `step ${name}`))
  }
  return encrypted
}

/** Decrypts recorded steps. One that is damaged stays as it is, and its reader does not understand it. */
export async function decryptSteps(steps: Steps, cipher: Cipher): Promise<Steps> {
  const decrypted = { ...steps }
  for (const [name, value] of Object.entries(steps)) {
    if (!isEncrypted(value)) continue
    const json = await cipher.decrypt(value.slice(PREFIX.length), `step ${name}`).catch(() => undefined)
    if (json !== undefined) decrypted[name] = z.json().parse(JSON.parse(json))
  }
  return decrypted
}
