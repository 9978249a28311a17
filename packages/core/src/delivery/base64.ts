// `btoa` takes a text of the bytes, and a hundred times as long. A record may have megabytes.

const { Buffer: NodeBuffer } = globalThis.process?.getBuiltinModule?.('node:buffer') ?? {}

/** Encodes bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  if (NodeBuffer) return NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
  // `String.fromCharCode` takes a limited number of arguments.
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8_192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return btoa(binary)
}

/** Decodes base64 that {@link toBase64} wrote. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (NodeBuffer) return new Uint8Array(NodeBuffer.from(text, 'base64'))
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
}
