/**
 * Watches the host: which event came in, what was answered, and what the host did in between. Each call and
 * each log line is put down to its own event, also where several events are handled at the same time.
 *
 * @module
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger, LogLevel } from '@org/core'

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
}

/** One event, from the request to the answer. */
export interface Exchange {
  /** The integration, for example `mailer`. */
  route: string
  deliveryId: string | undefined
  signed: boolean
  /** The parsed JSON, or the text where it is none. */
  event: unknown
  /** In the order in which they began. */
  calls: OutboundCall[]
  /** Warnings and errors of the host. */
  log: LogLine[]
  answer: ExchangeAnswer
  durationMs: number
}

/** What {@link createObserver} is told. */
export interface ObserverOptions {
  /** Calls below this URL go to the platform, all others to a provider. */
  platformUrl: string
  /** Is told of each event before the host gets it. */
  onEvent: (event: unknown) => void
  /** Is told of each event when it is answered, before the answer leaves. */
  onExchange: (exchange: Exchange) => void
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

const LOG_LINES_KEPT = 100

/** Makes an observer for one host. */
export function createObserver({ platformUrl, onEvent, onExchange }: ObserverOptions): Observer {
  const current = new AsyncLocalStorage<Pick<Exchange, 'calls' | 'log'>>()
  const log: LogLine[] = []

  return {
    log,
    logger(level, message) {
      if (level !== 'warn' && level !== 'error') return
      const lines = current.getStore()?.log ?? log
      lines.push({ level, message })
      if (lines.length > LOG_LINES_KEPT) lines.shift()
    },

    async fetch(input, init) {
      // A copy is read, and the original sent: a request made anew could miss the abort of the first one's signal.
      const copy = input instanceof Request ? input.clone() : new Request(input, init)
      const { href, pathname, search } = new URL(copy.url)
      const call: OutboundCall = {
        to: href.startsWith(`${platformUrl}/`) ? 'platform' : 'provider',
        method: copy.method,
        path: pathname + search,
        body: undefined,
        status: undefined,
        answer: undefined,
      }
      current.getStore()?.calls.push(call)
      call.body = parse(await copy.text())
      const response = await fetch(input, init)
      call.status = response.status
      call.answer = parse(await textOf(response.clone()))
      return response
    },

    watch: (handle) => async (request) => {
      const route = /^\/([^/]+)\/webhook$/.exec(new URL(request.url).pathname)?.[1]
      if (request.method !== 'POST' || route === undefined) return handle(request)
      const started = performance.now()
      const seen = { calls: [], log: [] }
      const event = parse(await textOf(request.clone()))
      onEvent(event)
      const response = await current.run(seen, async () => handle(request))
      const body = parse(await textOf(response.clone()))
      const replayed = response.headers.get('idempotency-replayed') === 'true'
      onExchange({
        ...seen,
        route,
        deliveryId: request.headers.get('webhook-id') ?? undefined,
        signed: request.headers.has('webhook-signature'),
        event,
        answer: { status: response.status, replayed, body },
        durationMs: performance.now() - started,
      })
      return response
    },
  }
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
