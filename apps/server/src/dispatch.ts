/**
 * A `fetch` over a chosen set of connections. It takes a third of the processor time of Node's own, and asks
 * whether a call may still leave after its connection is there.
 *
 * @module
 */
import type { CallInit } from '@org/core'
import type { Dispatcher } from 'undici'

/** What a server is told that a call comes from; some refuse calls that say nothing. */
const USER_AGENT = 'integration-host'

/**
 * Makes a `fetch` that sends through `dispatcher`, does not follow redirects, and calls {@link CallInit.ensureHeld}
 * right before the first byte is written.
 */
export function fetchThrough(dispatcher: Dispatcher): typeof fetch {
  return async (input, init) => {
    const { url, signal, ensureHeld, ...call } = await readCall(input, init)
    const { origin, pathname, search } = new URL(url)
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      let connection: Dispatcher.DispatchController | undefined
      let sink: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
      const onAbort = () => {
        connection?.abort(signal?.reason)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      const end = () => signal?.removeEventListener('abort', onAbort)

      dispatcher.dispatch(
        { origin, path: pathname + search, ...call },
        {
          // What is thrown here ends the call before anything is written.
          onRequestStart(controller) {
            signal?.throwIfAborted()
            ensureHeld?.()
            connection = controller
          },
          onResponseStart(controller, status, headers) {
            // 103 Early Hints: the response itself follows.
            if (status < 200) return
            // No Response can hold it.
            if (status > 599) throw new TypeError(`The server answered with the status ${status}.`)
            const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
              start(opened) {
                sink = opened
              },
              pull: () => controller.resume(),
              cancel() {
                sink = undefined
                controller.abort(new Error('The rest of the answer is not wanted.'))
              },
            })
            const unpacked = hasBody(status) ? unpack(body, headers['content-encoding']) : null
            resolve(new Response(unpacked, { status, headers: toPairs(headers) }))
          },
          onResponseData(controller, chunk) {
            // It comes with every resumption; passed on, it would ask for the next one without end.
            if (chunk.length === 0) return
            sink?.enqueue(new Uint8Array(chunk))
            if ((sink?.desiredSize ?? 0) <= 0) controller.pause()
          },
          onResponseEnd() {
            end()
            sink?.close()
          },
          onResponseError(_, error) {
            end()
            sink?.error(error)
            reject(error)
          },
        },
      )
    })
  }
}

/**
 * Whether `fetch` got a `Request`. Told by its shape: the HTTP server of Node hosts replaces the global `Request`,
 * so that the native one, which libraries hold, is no instance of it any more.
 */
export function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && 'arrayBuffer' in input
}

type Call = Pick<CallInit, 'ensureHeld'> &
  Pick<Dispatcher.DispatchOptions, 'method' | 'headers' | 'body'> & {
    url: string
    signal: AbortSignal | null | undefined
  }

async function readCall(input: string | URL | Request, init: CallInit = {}): Promise<Call> {
  const { ensureHeld } = init
  const given = isRequest(input) ? input : undefined
  return {
    url: given?.url ?? String(input),
    method: init.method ?? given?.method ?? 'GET',
    headers: { 'user-agent': USER_AGENT, ...toRecord(init.headers ?? given?.headers) },
    body: await readBody(init.body, given),
    signal: init.signal ?? given?.signal,
    ensureHeld,
  }
}

function toRecord(headers: RequestInit['headers'] = {}): Record<string, string> {
  return Symbol.iterator in headers ? Object.fromEntries(new Headers(headers)) : { ...headers }
}

async function readBody(body: RequestInit['body'], given: Request | undefined) {
  if (typeof body === 'string') return body
  if (body != null) return new Uint8Array(await new Response(body).arrayBuffer())
  return given?.body ? new Uint8Array(await given.arrayBuffer()) : null
}

/** Packed answers are not asked for, but some servers send nothing else. */
function unpack(body: ReadableStream<Uint8Array<ArrayBuffer>>, encoding: string | string[] | undefined) {
  return encoding === 'gzip' || encoding === 'deflate'
    ? body.pipeThrough(new DecompressionStream(encoding))
    : body
}

function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304
}

function toPairs(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )
}
