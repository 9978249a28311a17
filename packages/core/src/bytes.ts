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

/** What newer engines have; Node has it from 25 on. */
interface Base64 {
  toBase64?(): string
}
interface Base64Constructor {
  readonly prototype: Uint8Array
  fromBase64?(text: string): Uint8Array<ArrayBuffer>
}

/** Bytes that become characters at a time: more arguments than a call takes at once end in a RangeError. */
const MANY = 32_768

/** Encodes bytes in base64. */
export function toBase64(bytes: Uint8Array & Base64): string {
  const { Buffer } = globalThis
  if (bytes.toBase64) return bytes.toBase64()
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  let characters = ''
  for (let at = 0; at < bytes.length; at += MANY)
    characters += String.fromCharCode(...bytes.subarray(at, at + MANY))
  return btoa(characters)
}

/** Decodes what {@link toBase64} made. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const engine: Base64Constructor = Uint8Array
  const { Buffer } = globalThis
  if (engine.fromBase64) return engine.fromBase64(text)
  if (Buffer) return new Uint8Array(Buffer.from(text, 'base64'))
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
