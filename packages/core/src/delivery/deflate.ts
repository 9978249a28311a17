/** Compresses long records, with little of them in memory at a time. */
import { concat } from '../bytes.ts'

/** The first byte of a compressed text (RFC 1950); JSON never begins with it. */
export const DEFLATED = 0x78
/** Characters that are encoded at a time. */
const PIECE = 256 * 1024

/** Compresses a text. */
export function deflate(text: string): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0
  const pieces = new ReadableStream<string>(
    {
      pull(controller) {
        controller.enqueue(text.slice(at, at + PIECE))
        at += PIECE
        if (at >= text.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return collect(pieces.pipeThrough(new TextEncoderStream()).pipeThrough(new CompressionStream('deflate')))
}

/** Decompresses a text. */
export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).text()
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return concat(chunks)
}
