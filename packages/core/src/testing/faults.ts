/**
 * Faults on demand: what a network and a provider can do wrong, asked for by a test or by the sandbox.
 *
 * @module
 */

/** Which requests a {@link Fault} befalls. Without any of these it befalls the next request. */
export interface FaultSelector {
  method?: string | undefined
  /** The whole pathname, or an expression that occurs in it. */
  path?: string | RegExp | undefined
  /**
   * How many requests it befalls.
   * @default 1
   */
  times?: number | undefined
  /**
   * How many matching requests pass unharmed before.
   * @default 0
   */
  skip?: number | undefined
}

/** Answers with this status instead of the real answer. */
export interface StatusFault {
  status: number
  headers?: Record<string, string> | undefined
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown
  /**
   * Whether the request takes effect before the failure is answered.
   * @default false
   */
  takesEffect?: boolean | undefined
}

/** Waits, then does what was asked, also where the client has given up by then. */
export interface DelayFault {
  delayMs: number
}

/** Never answers, until the client gives up: `true` before, `'after'` after the request took effect. */
export interface HangFault {
  hang: true | 'after'
}

/**
 * Cuts the connection: before the request took effect, after it took effect but before any answer, or
 * during the answer.
 */
export interface CutFault {
  cut: 'before' | 'after' | 'during'
}

/** Cuts the text of the real answer off half way, as a whole HTTP message. The request took effect. */
export interface TruncateFault {
  truncate: true
}

/** Answers with an HTML page, as something in front of the provider does. The request had no effect. */
export interface HtmlFault {
  html: true
  /** @default 200 */
  status?: number | undefined
}

/** Answers with the real status, and nothing in the body. The request took effect. */
export interface EmptyFault {
  empty: true
}

/** One fault: which requests it befalls, and one thing that goes wrong with them. */
export type Fault = FaultSelector &
  (StatusFault | DelayFault | HangFault | CutFault | TruncateFault | HtmlFault | EmptyFault)

/** The faults that wait for their requests. */
export interface Faults {
  /** Faults befall matching requests in the order in which they were added. */
  add(...faults: readonly Fault[]): void
  clear(): void
  /** The faults that are still to come. */
  pending(): readonly Fault[]
  /** @returns the fault that befalls this request, which counts as used */
  take(request: Request): Fault | undefined
}

/** Makes an empty list of faults. */
export function createFaults(): Faults {
  let waiting: { fault: Fault; times: number; skip: number }[] = []
  return {
    add(...faults) {
      for (const fault of faults) waiting.push({ fault, times: fault.times ?? 1, skip: fault.skip ?? 0 })
    },
    clear() {
      waiting = []
    },
    pending: () => waiting.map(({ fault }) => fault),
    take(request) {
      for (const entry of waiting) {
        if (!befalls(entry.fault, request)) continue
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

function befalls({ method, path }: FaultSelector, request: Request): boolean {
  if (method !== undefined && method.toUpperCase() !== request.method) return false
  if (path === undefined) return true
  const { pathname } = new URL(request.url)
  // `search` and not `test`, which remembers where it stopped in an expression with the flag g.
  return typeof path === 'string' ? path === pathname : pathname.search(path) !== -1
}

const cutMarker = Symbol.for('@org/core/testing/ConnectionCut')

/** A cut connection, as Node's fetch reports it. {@link serve} cuts a real one where a handler throws it. */
export class ConnectionCut extends TypeError {
  readonly [cutMarker] = true

  constructor(message = 'fetch failed') {
    super(message, { cause: Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }) })
  }
}

/** Tells a {@link ConnectionCut} from anything else, also across two installed copies of this package. */
export function isConnectionCut(value: unknown): value is ConnectionCut {
  return typeof value === 'object' && value !== null && cutMarker in value
}

/**
 * Puts the faults around an emulator's real handler.
 *
 * @param handle does what the request asks for; where a client that leaves must not prevent that, it has
 *   read the body before
 * @throws {ConnectionCut} where the connection is cut before an answer
 */
export async function withFaults(
  faults: Faults,
  request: Request,
  handle: () => Promise<Response>,
): Promise<Response> {
  const fault = faults.take(request)
  if (!fault) return handle()

  if ('delayMs' in fault) return untilAborted(request.signal, pause(fault.delayMs).then(handle))
  if ('hang' in fault) {
    if (fault.hang === 'after') await handle()
    return untilAborted(request.signal, new Promise<never>(() => {}))
  }
  if ('cut' in fault) {
    if (fault.cut === 'before') throw new ConnectionCut()
    const answer = await handle()
    if (fault.cut === 'after') throw new ConnectionCut()
    return cutDuring(answer)
  }
  if ('truncate' in fault) {
    const answer = await handle()
    const text = await answer.text()
    return withBody(answer, text.slice(0, Math.ceil(text.length / 2)))
  }
  if ('empty' in fault) return withBody(await handle(), null)
  if ('html' in fault) return htmlPage(fault.status ?? 200)

  if (fault.takesEffect) await handle()
  return statusAnswer(fault)
}

/** The real answer's first half, then a broken connection. */
async function cutDuring(answer: Response): Promise<Response> {
  const bytes = new Uint8Array(await answer.arrayBuffer())
  let begun = false
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (begun) return controller.error(new ConnectionCut('terminated'))
      begun = true
      controller.enqueue(bytes.subarray(0, Math.ceil(bytes.length / 2)))
    },
  })
  return withBody(answer, body)
}

function withBody(answer: Response, body: BodyInit | null): Response {
  const headers = new Headers(answer.headers)
  headers.delete('content-length')
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers })
}

function htmlPage(status: number): Response {
  const page = `<!doctype html><html><head><title>${status}</title></head><body><h1>Please wait</h1></body></html>`
  return new Response(page, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}

function statusAnswer({ status, headers, body }: StatusFault): Response {
  const isText = typeof body === 'string'
  const type = isText ? 'text/plain; charset=utf-8' : 'application/json'
  return new Response(body === undefined || isText ? body : JSON.stringify(body), {
    status,
    headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
  })
}

/** Ends with the signal's reason where the client gives up first, as fetch does; the work itself goes on. */
function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
