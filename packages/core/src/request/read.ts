import { IntegrationError, isIntegrationError } from '../errors.ts'

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
const FIRST_BUFFER = 16 * 1024
/** In bytes. A longer body is streamed, because its sender may cut it into any number of chunks. */
const SHORT_BODY = 64 * 1024

/**
 * Reads the body once.
 *
 * @param limits `bodyLimit` in bytes; `trustContentLength` if the runtime enforces `content-length`
 * @throws {IntegrationError} `body_too_large` as soon as the limit is passed, whatever `content-length` says;
 * `invalid_json` if the body breaks off
 */
export async function readBody(
  request: Request,
  { bodyLimit, trustContentLength }: { bodyLimit: number; trustContentLength: boolean },
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const length = request.headers.get('content-length')
    if (trustContentLength && length !== null && Number(length) <= SHORT_BODY)
      return new Uint8Array(await request.arrayBuffer())
    return await readChunks(request, bodyLimit)
  } catch (error) {
    if (isIntegrationError(error)) throw error
    throw new IntegrationError('invalid_json', 'The body broke off before its end.', { cause: error })
  }
}

async function readChunks({ body }: Request, bodyLimit: number): Promise<Uint8Array<ArrayBuffer>> {
  // One buffer: a list of one-byte chunks costs about 100 bytes each.
  let buffer = new Uint8Array(FIRST_BUFFER)
  let size = 0
  for await (const chunk of body ?? []) {
    if (size + chunk.byteLength > bodyLimit) throw tooLarge(bodyLimit)
    if (size + chunk.byteLength > buffer.length) {
      const longer = new Uint8Array(Math.max(size + chunk.byteLength, 2 * buffer.length))
      longer.set(buffer)
      buffer = longer
    }
    buffer.set(chunk, size)
    size += chunk.byteLength
  }
  return buffer.subarray(0, size)
}

function tooLarge(bodyLimit: number): IntegrationError {
  return new IntegrationError('body_too_large', `The body is longer than ${bodyLimit} bytes.`)
}
