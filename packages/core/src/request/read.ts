/**
 * From a raw request to an event: the checks that come before anything acts.
 *
 * @module
 */
import { IntegrationError, isIntegrationError } from '../errors.ts'
import { eventNames, type PlatformEvent, platformEvent } from '../contract/event.ts'
import { checkJsonLimits } from './json-limits.ts'
import { fieldErrors, suggestion } from '../contract/validation.ts'

/** Refuses what can't be an event, before its body is read. */
export function checkRequest(request: Request, bodyLimit: number): void {
  if (request.method !== 'POST') {
    throw new IntegrationError('method_not_allowed', `A webhook takes POST, not ${request.method}.`)
  }
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (mediaType !== 'application/json' && !/^application\/[\w.-]+\+json$/.test(mediaType)) {
    throw new IntegrationError(
      'unsupported_media_type',
      `The body must be sent as application/json${mediaType ? `, not as ${mediaType}` : ''}.`,
    )
  }
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() || 'identity'
  if (encoding !== 'identity') {
    // A compressed body is as long as its sender likes, whatever arrives.
    throw new IntegrationError(
      'unsupported_media_type',
      `The body must be sent as it is, not as ${encoding}.`,
    )
  }
  if (Number(request.headers.get('content-length') ?? 0) > bodyLimit) throw tooLarge(bodyLimit)
}

const FIRST_BUFFER = 16 * 1024
/** In bytes. */
const SHORT_BODY = 64 * 1024

/**
 * Reads the body once, as bytes, up to the limit.
 *
 * @throws {IntegrationError} `body_too_large` as soon as the limit is passed, whatever length was announced;
 * `invalid_json` where the body breaks off
 */
export async function readBody(
  request: Request,
  { bodyLimit, lengthHolds }: { bodyLimit: number; lengthHolds: boolean },
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    // For what is known to be short no stream is needed. What is longer, a sender may cut into any number of pieces.
    const announced = request.headers.get('content-length')
    if (lengthHolds && announced !== null && Number(announced) <= SHORT_BODY)
      return new Uint8Array(await request.arrayBuffer())
    return await readPieces(request, bodyLimit)
  } catch (error) {
    if (isIntegrationError(error)) throw error
    throw new IntegrationError('invalid_json', 'The body broke off before its end.', { cause: error })
  }
}

async function readPieces({ body }: Request, bodyLimit: number): Promise<Uint8Array<ArrayBuffer>> {
  // Not a list of the pieces: a sender may cut the body into single bytes, and each would cost a hundred.
  let buffer = new Uint8Array(FIRST_BUFFER)
  let size = 0
  for await (const piece of body ?? []) {
    if (size + piece.byteLength > bodyLimit) throw tooLarge(bodyLimit)
    if (size + piece.byteLength > buffer.length) {
      const longer = new Uint8Array(Math.max(size + piece.byteLength, 2 * buffer.length))
      longer.set(buffer)
      buffer = longer
    }
    buffer.set(piece, size)
    size += piece.byteLength
  }
  return buffer.subarray(0, size)
}

const LONGEST_ID = 200

/**
 * The delivery's id: the header `webhook-id`, else the event's own, else none.
 *
 * @throws {IntegrationError} `invalid_event` where the header is too long to be one
 */
export function readDeliveryId(headers: Headers, event: PlatformEvent): string | undefined {
  // An empty header names no delivery.
  const id = headers.get('webhook-id') || event.id
  if (id === undefined || id.length <= LONGEST_ID) return id
  const message = `is longer than ${LONGEST_ID} characters`
  throw new IntegrationError('invalid_event', `The header webhook-id ${message}.`, {
    errors: [{ path: 'webhook-id', message }],
  })
}

/** Parses the bytes as JSON, and the JSON as an event. */
export function parseEvent(body: Uint8Array): PlatformEvent {
  const value = parseJson(body)
  const parsed = platformEvent.safeParse(value)
  if (parsed.success) return parsed.data
  const errors = fieldErrors(parsed.error, '')
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  const hint = typeof name === 'string' ? suggestion(name, eventNames) : ''
  const first = errors[0]
  const detail = first
    ? `${first.path || 'the body'}: ${first.message}${first.path === 'name' ? hint : ''}`
    : 'it does not fit'
  throw new IntegrationError('invalid_event', `The body is not an event that this host knows: ${detail}`, {
    errors,
  })
}

function parseJson(body: Uint8Array): unknown {
  checkJsonLimits(body)
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new IntegrationError('invalid_json', 'The body is not UTF-8.')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // The engine's own message quotes the body, so only the position is passed on.
    const position = error instanceof Error ? /position (\d+)/.exec(error.message)?.[1] : undefined
    const where = text === '' ? ': it is empty' : position ? ` (see position ${position})` : ''
    throw new IntegrationError('invalid_json', `The body is not JSON${where}.`)
  }
}

/** SHA-256 in hexadecimal, to recognise a body again without keeping it. */
export async function digest(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', body)
  return Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function tooLarge(bodyLimit: number): IntegrationError {
  return new IntegrationError('body_too_large', `The body is longer than ${bodyLimit} bytes.`)
}
