/**
 * SHA-256, HMAC-SHA256 and AES-256-GCM. Web Crypto hands each call to another thread, which takes ten times as long as the work on
 * a short text. Node, Bun and Deno do it at once.
 */
import { concat } from './bytes.ts'
import { timeSliced } from './slices.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** HMAC-SHA256 with one key, of texts (as UTF-8) and bytes one after the other. */
export interface HmacKey {
  digest(...parts: (string | Uint8Array)[]): Bytes | Promise<Bytes>
  base64(...parts: (string | Uint8Array)[]): string | Promise<string>
}

interface GcmOptions {
  /** 12 bytes that were never used with this key. */
  iv: Bytes
  additionalData: Bytes
}

const node = globalThis.process?.getBuiltinModule?.('node:crypto')
/** Longer bytes are encrypted by another thread, and hashed in slices of so many, so that they hold nothing up. */
const SHORT_BYTES = 64 * 1024
const encoder = new TextEncoder()
const toBytes = (part: string | Uint8Array) => (typeof part === 'string' ? encoder.encode(part) : part)

/** Hashes bytes. */
export async function sha256(bytes: Bytes): Promise<Bytes> {
  if (!node) return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const hash = node.createHash('sha256')
  if (bytes.length > SHORT_BYTES) await updateInSlices(hash, bytes)
  else hash.update(bytes)
  return new Uint8Array(hash.digest())
}

/** Web Crypto would copy all bytes at once, which takes longer than a slice. */
async function updateInSlices(
  hash: { update(bytes: Uint8Array): unknown },
  bytes: Uint8Array,
): Promise<void> {
  const yieldToLoop = timeSliced()
  for (let at = 0; at < bytes.length; at += SHORT_BYTES) {
    await yieldToLoop()
    hash.update(bytes.subarray(at, at + SHORT_BYTES))
  }
}

/** Imports a key. */
export function createHmacKey(secret: Bytes): HmacKey {
  if (!node) return createWebHmacKey(secret)
  const { createHmac } = node
  const key = node.createSecretKey(secret)
  function hash(parts: readonly (string | Uint8Array)[]) {
    const hmac = createHmac('sha256', key)
    for (const part of parts) hmac.update(part)
    return hmac
  }
  async function hashInSlices(parts: readonly (string | Uint8Array)[]) {
    const hmac = createHmac('sha256', key)
    for (const part of parts) await updateInSlices(hmac, toBytes(part))
    return hmac
  }
  const areLong = (parts: readonly (string | Uint8Array)[]) =>
    parts.some(({ length }) => length > SHORT_BYTES)
  return {
    digest: (...parts) =>
      areLong(parts)
        ? hashInSlices(parts).then((hmac) => new Uint8Array(hmac.digest()))
        : new Uint8Array(hash(parts).digest()),
    base64: (...parts) =>
      areLong(parts)
        ? hashInSlices(parts).then((hmac) => hmac.digest('base64'))
        : hash(parts).digest('base64'),
  }
}

/** The same by Web Crypto, which every runtime has. */
export function createWebHmacKey(secret: Bytes): HmacKey {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  let key: Promise<CryptoKey> | undefined
  async function digest(...parts: (string | Uint8Array)[]): Promise<Bytes> {
    key ??= crypto.subtle.importKey('raw', secret, algorithm, false, ['sign'])
    return new Uint8Array(await crypto.subtle.sign('HMAC', await key, concat(parts.map(toBytes))))
  }
  return { digest, base64: async (...parts) => btoa(String.fromCharCode(...(await digest(...parts)))) }
}

const importKey = (key: Bytes) =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])

/**
 * Encrypts bytes.
 *
 * @param key 32 bytes
 * @returns the ciphertext, and the tag of 16 bytes, as Web Crypto does
 */
export async function encrypt(key: Bytes, options: GcmOptions, plain: Bytes): Promise<Bytes> {
  if (!node || plain.length > SHORT_BYTES) {
    const algorithm = { name: 'AES-GCM', ...options }
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, await importKey(key), plain))
  }
  // A key object: Node takes four times as long with the bytes of a key.
  const secret = node.createSecretKey(key)
  const cipher = node.createCipheriv('aes-256-gcm', secret, options.iv).setAAD(options.additionalData)
  return concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/**
 * Decrypts bytes, rarely: on every runtime by Web Crypto.
 *
 * @throws if they were encrypted with another key or other options, or changed since
 */
export async function decrypt(key: Bytes, options: GcmOptions, encrypted: Bytes): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', ...options }
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, await importKey(key), encrypted))
}

/** Compares two texts in constant time. */
export function equalTexts(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}
