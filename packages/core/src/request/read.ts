/** From a request to its event: the method, the size, the bytes, the JSON, the envelope. */
import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { suggestion } from '../contract/suggestion.ts'
import { fieldErrors } from '../contract/validation.ts'
import { IntegrationError, isIntegrationError } from '../errors.ts'
import { readJson } from '../json.ts'
import type { Place } from './capacity.ts'

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

/** A body may come in so many pieces, and in one more for each so many bytes: a piece costs time, and about 100 bytes. */
const [FREE_PIECES, BYTES_PER_PIECE] = [1_000, 256]

interface ReadOptions {
  /** In bytes. */
  bodyLimit: number
  /** Whether the runtime enforces `content-length`. */
  trustContentLength: boolean
  /** Counts the bytes that have arrived. */
  place: Place
}

/**
 * Reads the body once.
 *
 * @throws {IntegrationError} `body_too_large` as soon as the limit is passed, whatever `content-length` says;
 * `invalid_json` if the body breaks off; `overloaded` if it gives way to others
 */
export async function readBody(request: Request, options: ReadOptions): Promise<Uint8Array<ArrayBuffer>> {
  const length = options.trustContentLength ? request.headers.get('content-length') : null
  const isShort = length !== null && Number(length) <= SHORT_BODY
  try {
    const short = isShort ? options.place.readShort(() => request.arrayBuffer()) : undefined
    return short ? new Uint8Array(await short) : await readChunks(request, options)
  } catch (error) {
    if (isIntegrationError(error)) throw error
    throw new IntegrationError('invalid_json', 'The body broke off before its end.', { cause: error })
  }
}

async function readChunks({ body }: Request, { bodyLimit, place }: ReadOptions) {
  // One buffer: a list of one-byte pieces costs hundreds of bytes each.
  let buffer = new Uint8Array()
  let size = 0
  let pieces = 0
  const reader = body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  place.begin(cancel)
  try {
    for (;;) {
      const chunk = await reader?.read()
      if (!chunk || chunk.done) break
      const before = size
      size += chunk.value.byteLength
      pieces += 1
      if (size > bodyLimit) throw tooLarge(bodyLimit)
      if (pieces > FREE_PIECES + size / BYTES_PER_PIECE) {
        throw new IntegrationError('invalid_json', 'The body comes in too many small pieces.', {
          hint: 'Send it whole, with its content-length.',
        })
      }
      place.arrive(chunk.value.byteLength)
      if (size > buffer.length) {
        const longer = new Uint8Array(Math.max(size, Math.min(bodyLimit, 2 * buffer.length)))
        longer.set(buffer)
        buffer = longer
      }
      buffer.set(chunk.value, before)
    }
    place.complete()
    return buffer.subarray(0, size)
  } catch (error) {
    cancel()
    throw error
  }
}

function tooLarge(bodyLimit: number): IntegrationError {
  return new IntegrationError('body_too_large', `The body is longer than ${bodyLimit} bytes.`, {
    hint: 'BODY_LIMIT of the host sets this limit. A file in base64 counts four thirds of its size.',
  })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Parses the body as JSON, and the JSON as an event.
 *
 * @returns the event, and how many values the JSON has
 * @throws {IntegrationError} `invalid_json`, or `invalid_event` with the path of each fault
 */
export function parseEvent(body: Uint8Array): { event: PlatformEvent; values: number } {
  const { value, values, excess } = parseJson(body)
  if (excess !== undefined) throw new IntegrationError('invalid_json', `The body ${excess}.`)
  return { event: toEvent(value), values }
}

function parseJson(body: Uint8Array) {
  try {
    return readJson(decoder.decode(body))
  } catch (error) {
    if (error instanceof TypeError) throw new IntegrationError('invalid_json', 'The body is not UTF-8.')
    // The engine's own message quotes the body, so only the position is passed on.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    const where = body.length === 0 ? ': it is empty' : position ? ` (see position ${position})` : ''
    throw new IntegrationError('invalid_json', `The body is not JSON${where}.`)
  }
}

function toEvent(value: unknown): PlatformEvent {
  const parsed = platformEvent.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = fieldErrors(parsed.error, '')
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  const hint = typeof name === 'string' ? suggestion(name, eventNames) : ''
  const { path = '', message = 'it is invalid' } = errors[0] ?? {}
  const detail = `${path || 'the body'}: ${message}${path === 'name' ? hint : ''}`
  throw new IntegrationError('invalid_event', `The body is not an event that this host knows: ${detail}`, {
    errors,
  })
}
