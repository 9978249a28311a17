/**
 * From a raw request to an event: the checks that come before anything acts.
 *
 * @module
 */
import { IntegrationError } from './errors.ts'
import { eventNames, type PlatformEvent, platformEvent } from './event.ts'
import { fieldErrors, suggestion } from './validation.ts'

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
  if (Number(request.headers.get('content-length') ?? 0) > bodyLimit) throw tooLarge(bodyLimit)
}

/** Reads the body once, as bytes, up to the limit. */
export async function readBody(request: Request, bodyLimit: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > bodyLimit) throw tooLarge(bodyLimit)
    chunks.push(chunk)
  }
  const body = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    body.set(chunk, offset)
    offset += chunk.byteLength
  }
  return body
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
