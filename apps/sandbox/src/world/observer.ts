/**
 * Observes the host: each event, its response, and the calls and log lines in between. Calls and log lines
 * belong to their own event, even if the host handles several events at the same time.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '@org/core'
import type { Fault } from '@org/core/testing'
import type { Message, OpenExchange, OutboundCall } from './exchange.ts'
import { SOURCE_HEADER } from './exchange.ts'
import { parse } from './json.ts'

const LOG_LINES_KEPT = 100

type Handler = (request: Request) => Response | Promise<Response>
type Observed = { exchange: OpenExchange; started: number }

/**
 * Makes an observer for one host.
 * @param platformUrl calls below this URL go to the platform, all others to a provider
 * @param listeners run before the host gets an event, and after every change
 */
export function createObserver(
  platformUrl: string,
  listeners: {
    onEvent: (event: unknown, route: string) => void
    onChange: (exchange: OpenExchange) => void
  },
) {
  const { onEvent, onChange } = listeners
  const current = new AsyncLocalStorage<Observed>()
  const pending = new Set<Observed>()
  let count = 0

  const observedFetch: typeof fetch = async (input, init) => {
    // The observer reads a copy and sends the original, because a new request could miss an abort.
    const [body, copied] =
      init?.body instanceof ReadableStream ? init.body.tee() : [init?.body ?? null, init?.body ?? null]
    const copy = input instanceof Request ? input.clone() : new Request(input, { ...init, body: copied })
    const observed = current.getStore()
    const started = performance.now()
    const call = toCall(copy, platformUrl, started - (observed?.started ?? started))
    observed?.exchange.calls.push(call)
    const changed = () => observed && onChange(observed.exchange)
    try {
      call.request = await toMessage(copy)
      changed()
      const response = await fetch(input, init && { ...init, body })
      call.status = response.status
      call.response = await toMessage(response.clone(), () => {
        call.failure = 'the response broke off'
      })
      if (response.ok && typeof call.response.body === 'string') call.failure ??= 'the response is no JSON'
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
    logger: ((level, message, data) => {
      const lines = current.getStore()?.exchange.log ?? []
      lines.push({ level, message, data })
      if (lines.length > LOG_LINES_KEPT) lines.shift()
    }) satisfies Logger,
    /** Notes that an emulator injects a fault into the response to a call. */
    meetFault({ method, url }: Request, fault: Fault): void {
      const { pathname, search } = new URL(url)
      const isIt = (call: OutboundCall) =>
        call.durationMs === undefined && call.method === method && call.path === pathname + search
      const calls = [...pending].flatMap(({ exchange }) => exchange.calls)
      const met = calls.find((call) => isIt(call) && call.fault === undefined)
      if (met) met.fault = fault
    },
    /** Makes the calls of the host. */
    fetch: observedFetch,
    /** Wraps the host. */
    watch:
      (handle: Handler) =>
      async (request: Request): Promise<Response> => {
        const route = /^\/([^/]+)\/webhook$/.exec(new URL(request.url).pathname)?.[1]
        if (request.method !== 'POST' || route === undefined) return handle(request)
        const started = performance.now()
        const message = await toMessage(request.clone())
        const [source, ticket] = request.headers.get(SOURCE_HEADER)?.split(' ') ?? []
        count += 1
        const exchange: OpenExchange = {
          number: count,
          at: Date.now(),
          source,
          ticket,
          route,
          deliveryId: request.headers.get('webhook-id') ?? undefined,
          signed: request.headers.has('webhook-signature'),
          request: { ...message, headers: message.headers.filter(([name]) => name !== SOURCE_HEADER) },
          calls: [],
          log: [],
        }
        onEvent(message.body, route)
        onChange(exchange)
        const observed = { exchange, started }
        pending.add(observed)
        const response = await current
          .run(observed, async () => handle(request))
          .finally(() => pending.delete(observed))
        exchange.response = {
          ...(await toMessage(response.clone())),
          status: response.status,
          replayed: response.headers.get('idempotency-replayed') === 'true',
        }
        exchange.durationMs = performance.now() - started
        onChange(exchange)
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
    url: href,
    request: { headers: [...request.headers], text: '', body: undefined },
    response: { headers: [], text: '', body: undefined },
    startedMs,
  }
}

async function toMessage(message: Request | Response, onBreak = () => {}): Promise<Message> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of message.body ?? []) text += decoder.decode(chunk, { stream: true })
  } catch {
    // The host handles it; the observer keeps what arrived.
    onBreak()
  }
  return { headers: [...message.headers], text, body: parse(text) }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no response'
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'the host gave up waiting'
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' ? 'connection cut' : (code ?? error.name)
}
