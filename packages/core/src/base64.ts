/** Bytes that become characters at a time: a call takes no more arguments than that. */
const MANY = 32_768

/** Encodes bytes in base64. */
// Newer engines do it themselves; Node does from 25 on.
export function toBase64(bytes: Uint8Array & { toBase64?(): string }): string {
  const { Buffer } = globalThis
  if (bytes.toBase64) return bytes.toBase64()
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  let characters = ''
  for (let at = 0; at < bytes.length; at += MANY)
    characters += String.fromCharCode(...bytes.subarray(at, at + MANY))
  return btoa(characters)
}
