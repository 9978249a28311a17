/**
 * What watches a host from outside its events: its metrics, and its traces. Whatever leaves the host is wrapped
 * here, once, and each onlooker is told what came of it.
 *
 * @module
 */
import { type DeliveryStore, isIntegrationError, type Observer, type Platform } from '@org/core'
import { isCircuitOpen } from './breaker.ts'
import { isRequest } from './dispatch.ts'

/** Something that the host asks of another. */
export type Call =
  /** A request to an integration's provider. */
  | ({ to: 'provider'; integration: string } & HttpCall)
  /** What an event tells the platform, or asks of it, with all its tries. */
  | { to: 'platform'; callback: keyof Platform }
  /** One try of that. */
  | ({ to: 'platform-api' } & HttpCall)
  | { to: 'store'; operation: Exclude<keyof DeliveryStore, 'ping'>; steps?: readonly string[] }

/** A request that is about to leave. */
export interface HttpCall {
  method: string
  url: string
  /** What an onlooker puts in here before it begins the work is sent along. */
  headers: Record<string, string>
}

/** Watches a host. It passes on whatever comes of the work that it runs, and must not throw by itself. */
export interface Onlooker extends Observer {
  /** Runs the whole of a request to a webhook. */
  webhook?(route: string, request: Request, work: () => Promise<Response>): Promise<Response>
  /**
   * Runs a call.
   *
   * @param outcomeOf what came of it, in one of a few words; for what is thrown, see {@link failureOf}
   */
  call<Result>(
    call: Call,
    work: () => Promise<Result>,
    outcomeOf: (result: Result) => string,
  ): Promise<Result>
}

/** Two onlookers as one; the first is around the other. */
export function together(outer: Onlooker | undefined, inner: Onlooker | undefined): Onlooker | undefined {
  if (!outer || !inner) return outer ?? inner
  return {
    answered(record) {
      outer.answered?.(record)
      inner.answered?.(record)
    },
    step(name, work) {
      const rest = () => inner.step?.(name, work) ?? work()
      return outer.step?.(name, rest) ?? rest()
    },
    webhook(route, request, work) {
      const rest = () => inner.webhook?.(route, request, work) ?? work()
      return outer.webhook?.(route, request, rest) ?? rest()
    },
    call: (call, work, outcomeOf) => outer.call(call, () => inner.call(call, work, outcomeOf), outcomeOf),
  }
}

/** What was thrown, in one of a few words: a code of ours, or what became of the connection. */
export function failureOf(error: unknown): string {
  if (isCircuitOpen(error)) return 'circuit_open'
  if (isIntegrationError(error)) return error.code
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout'
  if (error instanceof Error && error.name === 'AbortError') return 'aborted'
  return 'unreachable'
}

/** A `fetch` whose requests are watched until the head of the answer is there. */
export function watchFetch(
  send: typeof fetch,
  onlooker: Onlooker,
  describe: (call: HttpCall) => Call,
): typeof fetch {
  return (input, init) => {
    const headers: Record<string, string> = {}
    const given = isRequest(input) ? input : { method: 'GET', url: String(input) }
    const call = { method: init?.method ?? given.method, url: given.url, headers }
    const work = () => send(input, withHeaders(headers, input, init))
    return onlooker.call(describe(call), work, statusClass)
  }
}

/** Everything of `init` as it is, because a `fetch` of the host may be told more than the web's. */
function withHeaders(
  added: Record<string, string>,
  input: string | URL | Request,
  init: RequestInit | undefined,
): RequestInit | undefined {
  if (Object.keys(added).length === 0) return init
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined))
  for (const [name, value] of Object.entries(added)) headers.set(name, value)
  return { ...init, headers }
}

function statusClass({ status }: Response): string {
  return status === 429 ? '429' : `${Math.floor(status / 100)}xx`
}

/** The platform, with each callback watched. */
export function watchPlatform(platform: Platform, onlooker: Onlooker): Platform {
  const tell = <Result>(
    callback: keyof Platform,
    work: () => Promise<Result>,
    outcomeOf: (result: Result) => string,
  ) => onlooker.call({ to: 'platform', callback }, work, outcomeOf)
  const itself = (result: string) => result

  return {
    getDeployment: (...given) =>
      tell(
        'getDeployment',
        () => platform.getDeployment(...given),
        (found) => (found ? 'found' : 'gone'),
      ),
    setStatus: (...given) => tell('setStatus', () => platform.setStatus(...given), itself),
    appendLogs: (...given) => tell('appendLogs', () => platform.appendLogs(...given), itself),
    setOutputs: (...given) => tell('setOutputs', () => platform.setOutputs(...given), itself),
    reportMetrics: (...given) => tell('reportMetrics', () => platform.reportMetrics(...given), itself),
    putDownload: (...given) => tell('putDownload', () => platform.putDownload(...given), itself),
  }
}

/** A delivery store, with each operation watched. */
export function watchStore(store: DeliveryStore, onlooker: Onlooker): DeliveryStore {
  const write = (
    operation: 'renew' | 'advance' | 'complete' | 'release',
    work: () => Promise<boolean>,
    steps?: readonly string[],
  ) =>
    onlooker.call({ to: 'store', operation, ...(steps && { steps }) }, work, (kept) => (kept ? 'ok' : 'lost'))

  return {
    claim: (request) =>
      onlooker.call(
        { to: 'store', operation: 'claim' },
        () => store.claim(request),
        (result) => (result.state === 'claimed' && result.takenOver ? 'taken_over' : result.state),
      ),
    renew: (...given) => write('renew', () => store.renew(...given)),
    advance: (lease, steps) => write('advance', () => store.advance(lease, steps), Object.keys(steps)),
    complete: (...given) => write('complete', () => store.complete(...given)),
    release: (...given) => write('release', () => store.release(...given)),
    read: (subject) =>
      onlooker.call(
        { to: 'store', operation: 'read' },
        () => store.read(subject),
        (record) => (record ? 'found' : 'none'),
      ),
    ping: () => store.ping(),
  }
}
