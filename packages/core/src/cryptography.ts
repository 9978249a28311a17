/**
 * SHA-256, HMAC-SHA256 and AES-256-GCM, by Web Crypto. It hands each call to another thread, which is right for long
 * bytes, and takes ten times as long as the work on short ones: Node, Bun and Deno do that at once.
 */
type Bytes = Uint8Array<ArrayBuffer>

/** HMAC-SHA256 with one key, of texts (as UTF-8) and bytes one after the other. */
export type Hmac = (...parts: (string | Uint8Array)[]) => Promise<Bytes>

interface GcmOptions {
  /** 12 bytes that were never used with this key. */
  iv: Bytes
  additionalData: Bytes
}

const node = globalThis.process?.getBuiltinModule?.('node:crypto')
const SHORT_BYTES = 64 * 1024
const GCM = 'aes-256-gcm'
const TAG_BYTES = 16
const encoder = new TextEncoder()

/** Hashes bytes. */
export async function sha256(bytes: Bytes): Promise<Bytes> {
  if (!node || bytes.length > SHORT_BYTES) return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return new Uint8Array(node.createHash('sha256').update(bytes).digest())
}

/** Makes the HMAC of a key. */
export function createHmac(secret: Bytes): Hmac {
  const key = node?.createSecretKey(secret)
  let webKey: Promise<CryptoKey> | undefined
  return async (...parts) => {
    const bytes = concat(parts.map((part) => (typeof part === 'string' ? encoder.encode(part) : part)))
    if (node && key && bytes.length <= SHORT_BYTES)
      return new Uint8Array(node.createHmac('sha256', key).update(bytes).digest())
    webKey ??= crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
    return new Uint8Array(await crypto.subtle.sign('HMAC', await webKey, bytes))
  }
}

const importKey = (key: Bytes) =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])

/**
 * Encrypts bytes.
 *
 * @param key 32 bytes
 * @returns the ciphertext, and the tag of 16 bytes
 */
export async function encrypt(key: Bytes, options: GcmOptions, plain: Bytes): Promise<Bytes> {
  if (!node || plain.length > SHORT_BYTES) {
    const algorithm = { name: 'AES-GCM', ...options }
    return new Uint8Array(await crypto.subtle.encrypt(algorithm, await importKey(key), plain))
  }
  // A key object: Node takes four times as long with the bytes of a key.
  const secret = node.createSecretKey(key)
  const cipher = node.createCipheriv(GCM, secret, options.iv).setAAD(options.additionalData)
  return concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** @throws if the bytes were encrypted with another key or other options, or changed since */
export async function decrypt(key: Bytes, options: GcmOptions, encrypted: Bytes): Promise<Bytes> {
  if (!node || encrypted.length > SHORT_BYTES) {
    const algorithm = { name: 'AES-GCM', ...options }
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, await importKey(key), encrypted))
  }
  const end = Math.max(0, encrypted.length - TAG_BYTES)
  const decipher = node
    .createDecipheriv(GCM, node.createSecretKey(key), options.iv, { authTagLength: TAG_BYTES })
    .setAAD(options.additionalData)
    .setAuthTag(encrypted.subarray(end))
  return concat([decipher.update(encrypted.subarray(0, end)), decipher.final()])
}

/** Compares two texts in constant time. */
export function equalTexts(one: string, other: string): boolean {
  let difference = one.length ^ other.length
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}

/** The bytes of all parts in one array. */
export function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Decodes base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const { Buffer } = globalThis
  if (Buffer) return new Uint8Array(Buffer.from(text, 'base64'))
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
