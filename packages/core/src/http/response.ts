import { readJson } from '../json.ts'
import { effectOf, HttpFailure } from './failure.ts'

/** The answer to 500 mails has 3,500 values. */
const MAX_VALUES = 20_000

/** A 2xx response. */
export interface HttpResponse {
  status: number
  headers: Headers
  /** The parsed JSON; `undefined` if the body is empty. */
  body: unknown
}

/**
 * Parses the JSON of a response, unless it exceeds a limit. The limits of `readJson` are for servers that nobody vouches
 * for; an SDK whose user has chosen the server may take `JSON.parse`.
 *
 * @returns `excess`: the limit, as the end of a sentence
 * @throws {SyntaxError} if the text is not JSON
 */
export type JsonReader = (text: string, maxValues: number) => { value?: unknown; excess?: string | undefined }

/** Options of {@link readResponse}. */
export interface ReadingOptions {
  /** Most values of the JSON, keys not counted. */
  maxValues?: number | undefined
  /** Whether the body of a failure is one that the server itself sends. */
  isOwnForm?: ((body: unknown) => boolean) | undefined
}

/**
 * Reads a response to its end, as JSON.
 *
 * @param maxBytes of the body, after decompression
 * @throws {HttpFailure} if it is not 2xx, not whole JSON, or larger; a refusal that is larger has no body
 */
export function readResponse(
  response: Response,
  maxBytes: number,
  options: ReadingOptions = {},
): Promise<HttpResponse> {
  return readResponseBy(readJson, response, maxBytes, options)
}

/** {@link readResponse} with a reader of JSON. */
export async function readResponseBy(
  read: JsonReader,
  response: Response,
  maxBytes: number,
  { maxValues = MAX_VALUES, isOwnForm = () => false }: ReadingOptions,
): Promise<HttpResponse> {
  const { status, headers } = response
  // A refusal is a refusal, also if its words never come.
  const text = await readText(response, maxBytes).catch((error: unknown) => {
    if (response.ok) throw error
    return ''
  })
  const parsed = parseJson(read, text, maxValues)
  if (!response.ok) throw toStatusFailure(response, parsed?.value, parsed && isOwnForm(parsed.value))
  if (!parsed) {
    const message = 'The server answered with success, but not with whole JSON.'
    throw new HttpFailure('malformed', message, { effect: 'unknown', status })
  }
  if (parsed.excess !== undefined) throw tooLarge(status, parsed.excess)
  return { status, headers, body: parsed.value }
}

/** The failure of a response whose status is not 2xx. */
export function toStatusFailure(
  { status, headers }: Response,
  body?: unknown,
  isOwnForm = false,
): HttpFailure {
  return new HttpFailure('status', `The server answered with status ${status}.`, {
    effect: effectOf(status, isOwnForm),
    status,
    isOwnForm,
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
      throw tooLarge(status, `is longer than ${maxBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function tooLarge(status: number, excess: string): HttpFailure {
  return new HttpFailure('too_large', `The response ${excess}.`, { effect: effectOf(status), status })
}

function parseJson(read: JsonReader, text: string, maxValues: number): ReturnType<JsonReader> | undefined {
  try {
    return text === '' ? {} : read(text, maxValues)
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
