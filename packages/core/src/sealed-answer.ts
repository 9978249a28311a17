/**
 * Recorded answers at rest. An answer may name people (a user, the recipients of a mail), and a store keeps it
 * for days; so it is encrypted under a key that comes from the request itself, which the store never sees.
 * Only a redelivery of the same request brings the key again, and nobody else has a use for the answer.
 *
 * The store also holds the SHA-256 of the request. The key is another function of it (HKDF), and does not
 * follow from the digest.
 *
 * @module
 */
import type { AnswerBody } from './answer.ts'
import type { RecordedAnswer } from './delivery.ts'
import { IntegrationError } from './errors.ts'

const encoder = new TextEncoder()
const INFO = encoder.encode('integration host: recorded answer, version 1')
const SALT_BYTES = 16
const IV_BYTES = 12

/**
 * An answer as a store may keep it.
 *
 * @param request the bytes of the request's body
 */
export async function sealAnswer(
  { status, body }: { status: number; body: AnswerBody },
  request: Uint8Array<ArrayBuffer>,
): Promise<RecordedAnswer> {
  const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
  const key = await deriveKey(request, salt)
  const plain = encoder.encode(JSON.stringify(body))
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, plain)
  return { status, body: toBase64(salt, iv, new Uint8Array(sealed)) }
}

/**
 * The answer to the same request again.
 *
 * @throws {IntegrationError} `outcome_unknown` where the record is damaged: the work was done, and must not be
 * done again
 */
export async function openAnswer(
  { status, body }: RecordedAnswer,
  request: Uint8Array<ArrayBuffer>,
): Promise<{ status: number; body: AnswerBody }> {
  try {
    const bytes = fromBase64(body)
    const key = await deriveKey(request, bytes.subarray(0, SALT_BYTES))
    const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES)
    const sealed = bytes.subarray(SALT_BYTES + IV_BYTES)
    const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed)
    return { status, body: JSON.parse(new TextDecoder().decode(plain)) }
  } catch (cause) {
    throw new IntegrationError(
      'outcome_unknown',
      'This delivery was answered before, and the record of its answer can’t be read.',
      { hint: 'Look at the provider what came of it.', cause },
    )
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

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
