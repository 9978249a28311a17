/** Selects the requests that meet a {@link Fault}. By default, the next request meets it. */
interface FaultSelector {
  method?: string | undefined
  /** The whole pathname, or an expression that matches a part of it. */
  path?: string | RegExp | undefined
  /** How many requests meet the fault; one by default. */
  times?: number | undefined
  /** How many matching requests pass before; none by default. */
  skip?: number | undefined
}

/** Answers with this status instead of the real response. */
export interface StatusFault {
  status: number
  headers?: Record<string, string> | undefined
  /** A string is sent unchanged, anything else as JSON. By default, a 4xx is the provider's own, and a 5xx has none. */
  body?: unknown
  /** Whether the request takes effect before the failure; by default, it does not. */
  takesEffect?: boolean | undefined
}

/**
 * One fault:
 *
 * - `status`: see {@link StatusFault}
 * - `delayMs`: waits, then handles the request, also if the client has given up by then
 * - `hang`: never answers; `'after'`: the request takes effect first
 * - `cut`: cuts the connection before the effect, after the effect but before the response, or during the response
 * - `truncate`: the request takes effect; the response is a whole HTTP message with half of the text
 * - `html`: the request has no effect; the response is an HTML page, as from a proxy (`status`: 200)
 * - `empty`: the request takes effect; the response has the real status and no body
 */
export type Fault = FaultSelector &
  (
    | StatusFault
    | { delayMs: number }
    | { hang: true | 'after' }
    | { cut: 'before' | 'after' | 'during' }
    | { truncate: true }
    | { html: true; status?: number | undefined }
    | { empty: true }
  )

/** The faults that wait for their requests. */
export type Faults = ReturnType<typeof createFaults>

/** Makes an empty list of faults. Matching requests meet faults in the order in which the faults were added. */
export function createFaults() {
  let waiting: { fault: Fault; times: number; skip: number }[] = []
  return {
    add(...faults: readonly Fault[]): void {
      for (const fault of faults) waiting.push({ fault, times: fault.times ?? 1, skip: fault.skip ?? 0 })
    },
    clear(): void {
      waiting = []
    },
    /** The faults that are still to come. */
    pending: (): readonly Fault[] => waiting.map(({ fault }) => fault),
    /** The fault that this request meets; it counts as used. */
    take(request: Request): Fault | undefined {
      for (const entry of waiting) {
        if (!matches(entry.fault, request)) continue
        if (entry.skip > 0) {
          entry.skip -= 1
          continue
        }
        entry.times -= 1
        if (entry.times <= 0) waiting = waiting.filter((other) => other !== entry)
        return entry.fault
      }
      return undefined
    },
  }
}

function matches({ method, path }: FaultSelector, request: Request): boolean {
  if (method !== undefined && method.toUpperCase() !== request.method) return false
  if (path === undefined) return true
  const { pathname } = new URL(request.url)
  // Not `test`: an expression with the flag g remembers its position.
  return typeof path === 'string' ? path === pathname : pathname.search(path) !== -1
}

/** A cut connection, as Node's fetch reports it. {@link serve} cuts the real connection if a handler throws it. */
export class ConnectionCut extends TypeError {
  constructor(message = 'fetch failed') {
    super(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })
  }
}

/** Recognizes a {@link ConnectionCut} by its cause, so also one of another installed copy of this package. */
export const isConnectionCut = (value: unknown): boolean => Object(Object(value).cause).code === 'ECONNRESET'

/**
 * Applies the faults to a request.
 *
 * @param handle handles the request; it has read the body before, so a client that leaves does not prevent it
 * @param refusal makes the body of the provider's own refusals
 * @throws {ConnectionCut} if the connection is cut before a response
 */
export async function withFaults(
  faults: Faults,
  request: Request,
  handle: () => Promise<Response>,
  refusal?: (status: number) => unknown,
): Promise<Response> {
  const fault = faults.take(request)
  if (!fault) return handle()

  if ('delayMs' in fault) {
    const wait = new Promise((resolve) => setTimeout(resolve, fault.delayMs))
    return untilAborted(request.signal, wait.then(handle))
  }
  if ('hang' in fault) {
    if (fault.hang === 'after') await handle()
    return untilAborted(request.signal, new Promise<never>(() => {}))
  }
  if ('html' in fault) {
    const page = '<!doctype html><html><body><h1>Please wait</h1></body></html>'
    const headers = { 'content-type': 'text/html; charset=utf-8' }
    return new Response(page, { status: fault.status ?? 200, headers })
  }
  if ('status' in fault) {
    if (fault.takesEffect) await handle()
    // A gateway may answer with the others.
    const isOwn = fault.status >= 400 && fault.status < 500 && fault.status !== 408 && fault.status !== 425
    return statusResponse(isOwn ? { body: refusal?.(fault.status), ...fault } : fault)
  }

  if ('cut' in fault && fault.cut === 'before') throw new ConnectionCut()
  const response = await handle()
  if ('cut' in fault && fault.cut === 'after') throw new ConnectionCut()
  if ('empty' in fault) return withBody(response, null)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const half = bytes.slice(0, Math.ceil(bytes.length / 2))
  return withBody(response, 'cut' in fault ? cutAfter(half) : half)
}

/** A body that breaks off after these bytes. */
function cutAfter(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => controller.enqueue(bytes),
    pull: (controller) => controller.error(new ConnectionCut('terminated')),
  })
}

function withBody(response: Response, body: BodyInit | null): Response {
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  return new Response(body, { status: response.status, statusText: response.statusText, headers })
}

function statusResponse({ status, headers, body }: StatusFault): Response {
  if (body === undefined) return new Response(null, { status, headers: headers ?? {} })
  if (typeof body !== 'string') return Response.json(body, { status, headers: headers ?? {} })
  return new Response(body, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } })
}

/** Rejects with the reason of the signal if the client gives up first, as fetch does; the work goes on. */
function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
