/** Encodes bytes in base64. Newer engines do it themselves; Node does from 25 on. */
export function toBase64(bytes: Uint8Array & { toBase64?(): string }): string {
  const { Buffer } = globalThis
  if (bytes.toBase64) return bytes.toBase64()
  if (Buffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
