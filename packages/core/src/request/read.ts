import { IntegrationError, isIntegrationError } from '../errors.ts'
import type { BodyMemory } from './body-memory.ts'

/**
 * Checks a request before its body is read.
 *
 * @throws {IntegrationError} `method_not_allowed`, `unsupported_media_type` or `body_too_large`
 */
export function checkRequest(request: Request, bodyLimit: number): void {
  if (request.method !== 'POST') {
    throw new IntegrationError('method_not_allowed', `A webhook takes POST, not ${request.method}.`)
  }
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (mediaType !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(mediaType)) {
    throw new IntegrationError(
      'unsupported_media_type',
      `Send the body as application/json${mediaType ? `, not as ${mediaType}` : ''}.`,
    )
  }
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity') {
    // A compressed body can decompress to any length.
    throw new IntegrationError('unsupported_media_type', `Send the body without the encoding ${encoding}.`)
  }
  if (Number(request.headers.get('content-length') ?? 0) > bodyLimit) throw tooLarge(bodyLimit)
}

/** In bytes. */
const SHORT_BODY = 64 * 1024

/** A body may come in so many pieces, and in one more for each so many bytes: a piece costs as much as 1 KiB. */
const [FREE_PIECES, BYTES_PER_PIECE] = [1_000, 64]

interface ReadOptions {
  /** In bytes. */
  bodyLimit: number
  /** Whether the runtime enforces `content-length`. */
  trustContentLength: boolean
  /** Counts the bytes that have arrived. */
  memory: BodyMemory | undefined
}

/**
 * Reads the body once.
 *
 * @throws {IntegrationError} `body_too_large` as soon as the limit is passed, whatever `content-length` says;
 * `invalid_json` if the body breaks off; `overloaded` if it gives way to others
 */
export async function readBody(request: Request, options: ReadOptions): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const short = readShort(request, options)
    return short ? new Uint8Array(await short) : await readChunks(request, options)
  } catch (error) {
    if (isIntegrationError(error)) throw error
    throw new IntegrationError('invalid_json', 'The body broke off before its end.', { cause: error })
  }
}

function readShort(request: Request, { trustContentLength, memory }: ReadOptions) {
  const length = trustContentLength ? request.headers.get('content-length') : null
  if (length === null || Number(length) > SHORT_BODY) return undefined
  const read = () => request.arrayBuffer()
  return memory ? memory.readShort(read) : read()
}

async function readChunks(
  { body }: Request,
  { bodyLimit, memory }: ReadOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  // One buffer: a list of one-byte chunks costs about 100 bytes each.
  let buffer = new Uint8Array()
  let size = 0
  let pieces = 0
  const reader = body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  memory?.begin(cancel)
  try {
    for (;;) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) break
      const needed = size + chunk.value.byteLength
      if (needed > bodyLimit) throw tooLarge(bodyLimit)
      pieces += 1
      if (pieces > FREE_PIECES + needed / BYTES_PER_PIECE) throw tooManyPieces()
      memory?.arrive(chunk.value.byteLength)
      if (needed > buffer.length) {
        const longer = new Uint8Array(Math.max(needed, Math.min(bodyLimit, 2 * buffer.length)))
        longer.set(buffer)
        buffer = longer
      }
      buffer.set(chunk.value, size)
      size = needed
    }
    memory?.complete()
    return buffer.subarray(0, size)
  } catch (error) {
    cancel()
    throw error
  }
}

function tooManyPieces(): IntegrationError {
  return new IntegrationError('invalid_json', 'The body comes in too many small pieces.', {
    hint: 'Send it whole, with its content-length.',
  })
}

function tooLarge(bodyLimit: number): IntegrationError {
  return new IntegrationError('body_too_large', `The body is longer than ${bodyLimit} bytes.`, {
    hint: 'BODY_LIMIT of the host sets this limit. A file in base64 counts four thirds of its size.',
  })
}
