/**
 * Watches the host: which event came in, what was answered, and what the host did in between. Each call and
 * each log line is put down to its own event, also where several events are handled at the same time.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '@org/core'
import {
  type Exchange,
  type LogLine,
  type OpenExchange,
  type OutboundCall,
  SOURCE_HEADER,
} from './exchange.ts'

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

/** The places where the host is watched. */
export interface Observer {
  /** Makes the calls of a host in this process. */
  fetch: typeof fetch
  /** Makes the calls of a host elsewhere: they are put down to the newest event that is under way. */
  fetchFromElsewhere: typeof fetch
  logger: Logger
  /** Log lines that belong to no event, such as the warnings at the start. */
  log: LogLine[]
  /** Puts itself in front of the host. */
  watch(handle: (request: Request) => Response | Promise<Response>): (request: Request) => Promise<Response>
}

const LOG_LINES_KEPT = 100

/** An event that is under way, and when it began by the clock of this process. */
interface Seen {
  exchange: OpenExchange
  started: number
}

/** Makes an observer for one host. */
export function createObserver({
  platformUrl,
  onEvent,
  onExchange,
  onChange = () => {},
}: ObserverOptions): Observer {
  const current = new AsyncLocalStorage<Seen>()
  const underWay = new Set<Seen>()
  const log: LogLine[] = []
  let count = 0

  const callsOf =
    (whose: () => Seen | undefined): typeof fetch =>
    async (input, init) => {
      // A copy is read, and the original sent: a request made anew could miss the abort of the first one's signal.
      const copy = input instanceof Request ? input.clone() : new Request(input, init)
      const seen = whose()
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
    }

  return {
    log,
    logger(level, message) {
      if (level !== 'warn' && level !== 'error') return
      const lines = current.getStore()?.exchange.log ?? log
      lines.push({ level, message })
      if (lines.length > LOG_LINES_KEPT) lines.shift()
    },

    fetch: callsOf(() => current.getStore()),
    fetchFromElsewhere: callsOf(() => [...underWay].at(-1)),

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
      const seen = { exchange, started }
      underWay.add(seen)
      const response = await current
        .run(seen, async () => handle(request))
        .finally(() => underWay.delete(seen))
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
