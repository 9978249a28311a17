/** Compresses long records. */

/** The first byte of a compressed text (RFC 1950); JSON never begins with it. */
export const DEFLATED = 0x78

const convert = (data: BlobPart, by: CompressionStream | DecompressionStream) =>
  new Response(new Blob([data]).stream().pipeThrough(by))

/** Compresses a text. */
export async function deflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await convert(text, new CompressionStream('deflate')).arrayBuffer())
}

/** Decompresses a text. */
export function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return convert(bytes, new DecompressionStream('deflate')).text()
}
