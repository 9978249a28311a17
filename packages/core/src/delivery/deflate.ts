/** Compresses long records. */

/** The first byte of a compressed text (RFC 1950); JSON never begins with it. */
export const DEFLATED = 0x78
/** Characters that are encoded at a time. */
const PIECE = 256 * 1024

/** Compresses a text. */
export async function deflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const deflated = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate'))
  return new Uint8Array(await new Response(deflated).arrayBuffer())
}

/** Decompresses a text. */
export function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text()
}

/**
 * The UTF-8 of a text, of which a piece exists at a time.
 *
 * @param ended called when the last piece was taken, or nobody wants another one
 */
export function toBytes(text: string, ended = () => {}): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  const pieces = new ReadableStream<string>(
    {
      pull(controller) {
        controller.enqueue(text.slice(at, at + PIECE))
        at += PIECE
        if (at < text.length) return
        controller.close()
        ended()
      },
      cancel: ended,
    },
    { highWaterMark: 0 },
  )
  return pieces.pipeThrough(new TextEncoderStream())
}
