import { IntegrationError, isIntegrationError } from '../errors.ts'
import { type BodyMemory, HUGE_BODY, MEDIUM_BODY, SHORT_BODY } from './body-memory.ts'

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
/** A sender that does not say how long its body is gets memory for more of it as it comes. In bytes. */
const STAGES = [MEDIUM_BODY, HUGE_BODY]

/**
 * Reads the body once.
 *
 * @param options `bodyLimit` in bytes; `trustContentLength` if the runtime enforces `content-length`; `memory` to wait
 * for before a long body is read
 * @throws {IntegrationError} `body_too_large` as soon as the limit is passed, whatever `content-length` says;
 * `invalid_json` if the body breaks off; `overloaded` if the host reads too much already
 */
export async function readBody(
  request: Request,
  options: { bodyLimit: number; trustContentLength: boolean; memory: BodyMemory | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const length = request.headers.get('content-length')
    const expected = options.trustContentLength && length !== null ? Number(length) : undefined
    if (expected !== undefined && expected <= SHORT_BODY) return new Uint8Array(await request.arrayBuffer())
    return await readChunks(request, { ...options, expected })
  } catch (error) {
    if (isIntegrationError(error)) throw error
    throw new IntegrationError('invalid_json', 'The body broke off before its end.', { cause: error })
  }
}

/** @param options `expected`: the length of the body in bytes, if it is known */
async function readChunks(
  { body }: Request,
  {
    bodyLimit,
    expected,
    memory,
  }: { bodyLimit: number; expected: number | undefined; memory: BodyMemory | undefined },
): Promise<Uint8Array<ArrayBuffer>> {
  // One buffer: a list of one-byte chunks costs about 100 bytes each.
  let buffer = new Uint8Array(FIRST_BUFFER)
  let size = 0
  // A sender gets the memory for a long body once it has sent the length of a short one.
  let most = SHORT_BODY
  for await (const chunk of body ?? []) {
    const needed = size + chunk.byteLength
    if (needed > bodyLimit) throw tooLarge(bodyLimit)
    if (needed > most) {
      most = expected ?? Math.min(bodyLimit, STAGES.find((stage) => needed <= stage) ?? bodyLimit)
      await memory?.read(most)
    }
    if (needed > buffer.length) {
      const longer = new Uint8Array(
        expected !== undefined && needed > SHORT_BODY
          ? expected
          : Math.max(needed, Math.min(most, 2 * buffer.length)),
      )
      longer.set(buffer)
      buffer = longer
    }
    buffer.set(chunk, size)
    size = needed
  }
  return buffer.subarray(0, size)
}

function tooLarge(bodyLimit: number): IntegrationError {
  return new IntegrationError('body_too_large', `The body is longer than ${bodyLimit} bytes.`)
}
