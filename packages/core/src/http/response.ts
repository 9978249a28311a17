/**
 * What another host answers: read up to a limit, and understood as JSON.
 *
 * @module
 */
import { HttpFailure } from './failure.ts'

/** A 2xx answer. */
export interface HttpAnswer {
  status: number
  headers: Headers
  /** The parsed JSON; `undefined` where the answer was empty. */
  body: unknown
}

/**
 * Reads a body up to a limit, counted as it arrives, so that a compressed bomb is cut off.
 *
 * @throws {HttpFailure} `too_large`
 */
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
      // Not waited for: what is not wanted any more may not come to an end.
      reader.cancel().catch(() => {})
      const sent = status >= 300 && status < 500 ? 'no' : 'unknown'
      throw new HttpFailure('too_large', `The answer is longer than ${maxBytes} bytes.`, { sent, status })
    }
    text += decoder.decode(value, { stream: true })
  }
}

/**
 * Reads an answer to its end.
 *
 * @param maxBytes of the body, after decompression
 * @throws {HttpFailure} where it is not 2xx, not whole JSON, or longer
 */
export async function readAnswer(response: Response, maxBytes: number): Promise<HttpAnswer> {
  const text = await readText(response, maxBytes)
  const parsed = parseJson(text)
  if (!response.ok) throw toRefusal(response, parsed.ok ? parsed.value : undefined)
  if (!parsed.ok) {
    throw new HttpFailure('malformed', 'The server answered with success, but not with whole JSON.', {
      sent: 'unknown',
      status: response.status,
    })
  }
  return { status: response.status, headers: response.headers, body: parsed.value }
}

/** An answer that is not 2xx, as the failure that it means. */
export function toRefusal({ status, headers }: Response, body?: unknown): HttpFailure {
  return new HttpFailure('status', `The server answered with status ${status}.`, {
    // A refusal below 500 was decided before anything was done; 408 is a time-out by another name.
    sent: status < 500 && status !== 408 ? 'no' : 'unknown',
    status,
    body,
    retryAfter: readRetryAfter(headers),
  })
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  if (text === '') return { ok: true, value: undefined }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return { ok: false }
  }
}

/** `Retry-After` in seconds, from either of its forms (RFC 9110 §10.2.3). */
function readRetryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - Date.now()) / 1000))
}
