import { effectOf, HttpFailure } from './failure.ts'

/** Shorter responses are parsed in a few milliseconds, however deep they are. */
const UNCHECKED_LENGTH = 20_000
const MAX_DEPTH = 64
const [QUOTE, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d]

/** A 2xx response. */
export interface HttpResponse {
  status: number
  headers: Headers
  /** The parsed JSON; `undefined` if the body is empty. */
  body: unknown
}

/**
 * Reads a response to its end, as JSON.
 *
 * @param maxBytes of the body, after decompression
 * @throws {HttpFailure} if it is not 2xx, not whole JSON, or longer
 */
export async function readResponse(response: Response, maxBytes: number): Promise<HttpResponse> {
  const { status, headers } = response
  // A refusal is a refusal, also if its words never come.
  const text = await readText(response, maxBytes).catch((error: unknown) => {
    if (response.ok || error instanceof HttpFailure) throw error
    return ''
  })
  const parsed = isNestedDeeply(text) ? undefined : parseJson(text)
  if (!response.ok) throw toStatusFailure(response, parsed?.body)
  if (parsed) return { status, headers, body: parsed.body }
  const message = 'The server answered with success, but not with whole JSON.'
  throw new HttpFailure('malformed', message, { effect: 'unknown', status })
}

/** The failure of a response whose status is not 2xx. */
export function toStatusFailure({ status, headers }: Response, body?: unknown): HttpFailure {
  return new HttpFailure('status', `The server answered with status ${status}.`, {
    // A refusal below 500 was decided before any effect; 408 is a time-out by another name.
    effect: status < 500 && status !== 408 ? 'none' : 'unknown',
    status,
    body,
    retryAfter: readRetryAfter(headers),
  })
}

/** Reads a body up to a limit, counted as it arrives, so that a compressed bomb is cut off. */
async function readText({ body, status }: Response, maxBytes: number): Promise<string> {
  if (!body) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxBytes) {
      // Not awaited: the rest of the body may never end.
      reader.cancel().catch(() => {})
      const message = `The response is longer than ${maxBytes} bytes.`
      throw new HttpFailure('too_large', message, { effect: effectOf(status), status })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** `JSON.parse` takes a tenth of a second for a megabyte of brackets, and no provider needs them. */
function isNestedDeeply(text: string): boolean {
  if (text.length < UNCHECKED_LENGTH) return false
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit === QUOTE) at = endOfText(text, at)
    else if (unit === OPEN_LIST || unit === OPEN_OBJECT) depth += 1
    else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth -= 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}

function endOfText(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

function parseJson(text: string): { body: unknown } | undefined {
  try {
    return { body: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** `Retry-After` in seconds, from seconds, which some servers send with a fraction, or a date (RFC 9110 §10.2.3). */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim() ?? ''
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Number(value)
  // All three forms of a date begin with the day of the week. Without a zone, `Date.parse` would take local time.
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(value)) return undefined
  const date = Date.parse(/GMT$/.test(value) ? value : `${value} GMT`)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}
