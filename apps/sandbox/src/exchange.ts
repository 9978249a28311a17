/**
 * Watches the host: which event came in, what was answered, and what the host did in between. Each call and
 * each log line is put down to its own event, also where several events are handled at the same time.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger, LogLevel } from '@org/core'

/** The names and values of a message’s headers. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** One call that the host made while it handled an event. */
export interface OutboundCall {
  to: 'platform' | 'provider'
  method: string
  /** With the query, where there is one. */
  path: string
  /** Parsed, where it is JSON. */
  body: unknown
  /** `undefined` where no answer came. */
  status: number | undefined
  /** What was answered; parsed, where it is JSON. */
  answer: unknown
  /** The whole URL. */
  url: string
  requestHeaders: HeaderList
  requestText: string
  answerHeaders: HeaderList
  answerText: string
  /** Why no answer came, where none did. */
  failure: string | undefined
  /** After the event came in. */
  startedMs: number
  /** `undefined` while it is under way. */
  durationMs: number | undefined
}

/** A line of the host's own log. */
export interface LogLine {
  level: LogLevel
  message: string
}

/** What an event was answered. */
export interface ExchangeAnswer {
  status: number
  /** Whether the answer was recorded by an earlier delivery. */
  replayed: boolean
  /** The parsed JSON. */
  body: unknown
  headers: HeaderList
  text: string
}

/** One event, from the request to the answer. */
export interface Exchange {
  /** Counts the events since the start, from 1. */
  number: number
  /** When it came in, in milliseconds since 1970. */
  at: number
  /** Who delivered it, as {@link SOURCE_HEADER} says; `undefined`: somebody outside. */
  source: string | undefined
  /** The integration, for example `mailer`. */
  route: string
  deliveryId: string | undefined
  signed: boolean
  headers: HeaderList
  text: string
  /** The parsed JSON, or the text where it is none. */
  event: unknown
  /** In the order in which they began. */
  calls: OutboundCall[]
  /** Warnings and errors of the host. */
  log: LogLine[]
  answer: ExchangeAnswer
  durationMs: number
}

/** An event that may still be under way. */
export interface OpenExchange extends Omit<Exchange, 'answer' | 'durationMs'> {
  answer: ExchangeAnswer | undefined
  durationMs: number | undefined
}

/** What {@link createObserver} is told. */
export interface ObserverOptions {
  /** Calls below this URL go to the platform, all others to a provider. */
  platformUrl: string
  /** Is told of each event before the host gets it. */
  onEvent: (event: unknown, route: string) => void
  /** Is told of each event when it is answered, before the answer leaves. */
  onExchange: (exchange: Exchange) => void
  /** Is told whenever there is more to see of an event. */
  onChange?: (exchange: OpenExchange) => void
}

/** The three places where the host is watched. */
export interface Observer {
  /** Makes the host's calls. */
  fetch: typeof fetch
  logger: Logger
  /** Log lines that belong to no event, such as the warnings at the start. */
  log: LogLine[]
  /** Puts itself in front of the host. */
  watch(handle: (request: Request) => Response | Promise<Response>): (request: Request) => Promise<Response>
}

/** Says who of this sandbox delivered an event; the host does not look at it. */
export const SOURCE_HEADER = 'sandbox-source'

const LOG_LINES_KEPT = 100

/** Makes an observer for one host. */
export function createObserver({
  platformUrl,
  onEvent,
  onExchange,
  onChange = () => {},
}: ObserverOptions): Observer {
  const current = new AsyncLocalStorage<{ exchange: OpenExchange; started: number }>()
  const log: LogLine[] = []
  let count = 0

  return {
    log,
    logger(level, message) {
      if (level !== 'warn' && level !== 'error') return
      const lines = current.getStore()?.exchange.log ?? log
      lines.push({ level, message })
      if (lines.length > LOG_LINES_KEPT) lines.shift()
    },

    async fetch(input, init) {
      // A copy is read, and the original sent: a request made anew could miss the abort of the first one's signal.
      const copy = input instanceof Request ? input.clone() : new Request(input, init)
      const seen = current.getStore()
      const started = performance.now()
      const call = toCall(copy, platformUrl, started - (seen?.started ?? started))
      seen?.exchange.calls.push(call)
      const changed = () => seen && onChange(seen.exchange)
      try {
        call.requestText = await copy.text()
        call.body = parse(call.requestText)
        changed()
        const response = await fetch(input, init)
        call.status = response.status
        call.answerHeaders = [...response.headers]
        call.answerText = await textOf(response.clone())
        call.answer = parse(call.answerText)
        return response
      } catch (error) {
        call.failure = reasonOf(error)
        throw error
      } finally {
        call.durationMs = performance.now() - started
        changed()
      }
    },

    watch: (handle) => async (request) => {
      const route = /^\/([^/]+)\/webhook$/.exec(new URL(request.url).pathname)?.[1]
      if (request.method !== 'POST' || route === undefined) return handle(request)
      const started = performance.now()
      const text = await textOf(request.clone())
      count += 1
      const exchange: OpenExchange = {
        number: count,
        at: Date.now(),
        source: request.headers.get(SOURCE_HEADER) ?? undefined,
        route,
        deliveryId: request.headers.get('webhook-id') ?? undefined,
        signed: request.headers.has('webhook-signature'),
        headers: [...request.headers].filter(([name]) => name !== SOURCE_HEADER),
        text,
        event: parse(text),
        calls: [],
        log: [],
        answer: undefined,
        durationMs: undefined,
      }
      onEvent(exchange.event, route)
      onChange(exchange)
      const response = await current.run({ exchange, started }, async () => handle(request))
      const answerText = await textOf(response.clone())
      exchange.answer = {
        status: response.status,
        replayed: response.headers.get('idempotency-replayed') === 'true',
        body: parse(answerText),
        headers: [...response.headers],
        text: answerText,
      }
      exchange.durationMs = performance.now() - started
      onChange(exchange)
      onExchange({ ...exchange, answer: exchange.answer, durationMs: exchange.durationMs })
      return response
    },
  }
}

function toCall(request: Request, platformUrl: string, startedMs: number): OutboundCall {
  const { href, pathname, search } = new URL(request.url)
  return {
    to: href.startsWith(`${platformUrl}/`) ? 'platform' : 'provider',
    method: request.method,
    path: pathname + search,
    body: undefined,
    status: undefined,
    answer: undefined,
    url: href,
    requestHeaders: [...request.headers],
    requestText: '',
    answerHeaders: [],
    answerText: '',
    failure: undefined,
    startedMs,
    durationMs: undefined,
  }
}

/** In a few words why a call ended without an answer. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no answer'
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'gave up waiting'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' ? 'connection cut' : (code ?? error.name)
}

/** A body that breaks off is the reader's business; who only watches goes without. */
function textOf(message: Request | Response): Promise<string> {
  return message.text().catch(() => '')
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
