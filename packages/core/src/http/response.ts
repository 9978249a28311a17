/** Responses, and the failures of calls: whether a call may have taken effect. */
import { rootOf } from '../errors.ts'

/** The answer to 500 mails has 3,500 values. */
const MAX_VALUES = 20_000

/** A 2xx response. */
export interface HttpResponse {
  status: number
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
  readJson: JsonReader
  /** Longest body after decompression. */
  maxBytes: number
  /** Most values of the JSON, keys not counted. */
  maxValues?: number | undefined
  /** Whether the body of a failure is one that the server itself sends. */
  isOwnForm?: ((body: unknown) => boolean) | undefined
}

/**
 * Reads a response to its end, as JSON.
 *
 * @throws {HttpFailure} if it is not 2xx, not whole JSON, or larger; a refusal that is larger has no body
 */
export async function readResponse(
  response: Response,
  { readJson, maxBytes, maxValues = MAX_VALUES, isOwnForm = () => false }: ReadingOptions,
): Promise<HttpResponse> {
  const { status } = response
  // A refusal is a refusal, also if its words never come.
  const text = await readText(response, maxBytes).catch((error: unknown) => {
    if (response.ok) throw error
    return ''
  })
  const parsed = parseJson(readJson, text, maxValues)
  if (!response.ok) throw toStatusFailure(response, parsed?.value, parsed && isOwnForm(parsed.value))
  if (!parsed) {
    const message = 'The server answered with success, but not with whole JSON.'
    throw new HttpFailure('malformed', message, { effect: 'unknown', status })
  }
  if (parsed.excess !== undefined) throw tooLarge(status, parsed.excess)
  return { status, body: parsed.value }
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

/** The kinds of failure. */
export type HttpFailureKind =
  /** A response that is not 2xx. */
  | 'status'
  /** A 2xx response that is not JSON, or that breaks off. */
  | 'malformed'
  /** A response with more than `maxBytes` or `maxValues`. */
  | 'too_large'
  /** No response in time. */
  | 'timeout'
  /** The caller's signal ended it. */
  | 'aborted'
  /** No connection, or one that broke. */
  | 'connection'

/** The failure of a call to another host, and whether the call may have taken effect. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly kind: HttpFailureKind
  readonly effect: 'none' | 'unknown'
  readonly status: number | undefined
  /** Whether the provider itself answered, and not a gateway or a firewall in front of it. */
  readonly isOwnForm: boolean
  /** Seconds that the server asked to wait. */
  readonly retryAfter: number | undefined
  // Private, so that printing the error does not show what the provider quotes.
  readonly #body: unknown

  constructor(
    kind: HttpFailureKind,
    message: string,
    facts: {
      effect: 'none' | 'unknown'
      status?: number
      isOwnForm?: boolean
      body?: unknown
      retryAfter?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: facts.cause })
    this.kind = kind
    this.effect = facts.effect
    this.status = facts.status
    this.isOwnForm = facts.isOwnForm ?? false
    this.#body = facts.body
    this.retryAfter = facts.retryAfter
  }

  /** The parsed body of a `status` failure; `undefined` if it is not JSON. */
  get body(): unknown {
    return this.#body
  }
}

/** Codes of errors that arise before the first byte of the request leaves (Node, Bun). */
const NEVER_SENT = new Set([
  // The host's own transport.
  'ERR_NOT_SENT',
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Codes of certificates that are not accepted (Node's list of X.509 errors, Bun). */
const BAD_CERTIFICATE =
  /^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERROR_IN_CERT_|ERR_TLS_CERT_|CRL_|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$)/

/** Codes of servers that refuse the handshake of TLS, or answer it in plain text. */
const BAD_HANDSHAKE =
  /^ERR_SSL_(WRONG_VERSION_NUMBER|TLSV1_ALERT_NO_APPLICATION_PROTOCOL|PACKET_LENGTH_TOO_LONG|UNSUPPORTED_PROTOCOL|SSLV3_ALERT_HANDSHAKE_FAILURE|TLSV1_(ALERT_PROTOCOL_VERSION|UNRECOGNIZED_NAME))$/

/** Messages of the same errors, where a runtime has no code for them. */
const NEVER_SENT_MESSAGE =
  // Node's: a port, a handshake, a proxy that refuses, a server of HTTP/2 that does; then Deno's.
  /^bad port$|^Proxy response \(\d+\) !== 200 when HTTP Tunneling|NGHTTP2_REFUSED_STREAM|^Client network socket disconnected before secure TLS connection|client error \(Connect\)|^Fetch failed: Requests to port \d+ are blocked/

/**
 * Converts a thrown value.
 *
 * @param neverLeft whether it is known that the request had not left as a whole; otherwise the error tells
 */
export function toHttpFailure(
  thrown: unknown,
  status: number | undefined,
  callerSignal: AbortSignal | undefined,
  timedOut: boolean,
  neverLeft = false,
): HttpFailure {
  if (thrown instanceof HttpFailure) return thrown
  const cause = rootOf(thrown)
  const effect = neverLeft || neverSent(thrown) ? 'none' : 'unknown'
  if (callerSignal?.aborted) return interrupted(callerSignal, effect)
  if (timedOut) return new HttpFailure('timeout', 'The server did not answer in time.', { effect, cause })
  if (status !== undefined) {
    const message = 'The connection broke in the middle of the response.'
    return new HttpFailure('malformed', message, { effect: effectOf(status), status, cause })
  }
  const broken = 'The connection broke before a response came.'
  const message = effect === 'none' ? 'The server is unreachable.' : broken
  return new HttpFailure('connection', message, { effect, cause })
}

/** Statuses that say “not now”. A gateway may say so after it passed the request on. */
const NOT_NOW = [408, 425, 503]

/**
 * The effect of a call, by its response (contract §2). Nothing else decides it.
 *
 * @param isOwnForm whether the provider itself answered, and its response is whole
 */
export function effectOf(status: number, isOwnForm = false): HttpFailure['effect'] {
  if (NOT_NOW.includes(status)) return isOwnForm ? 'none' : 'unknown'
  return status >= 300 && status < 500 ? 'none' : 'unknown'
}

/** The failure of a call that the caller, or the event's deadline, ended. */
export function interrupted(signal: AbortSignal, effect: 'none' | 'unknown'): HttpFailure {
  const cause: unknown = signal.reason
  if (cause instanceof Error && cause.name === 'TimeoutError')
    return new HttpFailure('timeout', 'The deadline passed before a response came.', { effect, cause })
  return new HttpFailure('aborted', 'The caller ended the call.', { effect, cause })
}

/** Whether an error, or one of its causes, arose before the first byte of the request left. */
function neverSent(error: unknown): boolean {
  for (let link = error, depth = 0; link instanceof Error && depth < 10; link = link.cause, depth += 1) {
    // One error for each address that was tried.
    if (link instanceof AggregateError) return link.errors.length > 0 && link.errors.every(neverSent)
    if (NEVER_SENT_MESSAGE.test(link.message)) return true
    const code = 'code' in link ? String(link.code) : ''
    if (NEVER_SENT.has(code) || BAD_CERTIFICATE.test(code) || BAD_HANDSHAKE.test(code)) return true
    // Node's name of the operation that failed.
    if ('syscall' in link && (link.syscall === 'connect' || link.syscall === 'getaddrinfo')) return true
    // Deno's permissions.
    if (link.name === 'NotCapable') return true
  }
  return false
}
