/**
 * Sends requests over undici's connections. It takes a third of the processor time of Node's own `fetch`, and
 * checks the lease once the connection is open.
 */
import { Readable } from 'node:stream'
import { isIntegrationError } from '@org/core/errors'
import type { Agent, Dispatcher } from 'undici'
import { lazily } from '../routes/route.ts'
import type { Connection, OutgoingRequest } from './outbound.ts'

/** Some servers refuse calls that do not say where they come from. */
const USER_AGENT = 'integration-host'

/** A response may come after a few others that only announce it, such as 103 Early Hints. */
const MAX_INFORMATIONAL = 10

/** The statuses of responses without a body. */
const BODILESS = [204, 205, 304]

/** The code of an error of HTTP/2: the server did not process the call (RFC 9113, section 8.7). */
const REFUSED_STREAM = 7

/** The call had no effect: its first byte was not written, or the server refused it unprocessed. Core knows the code. */
const notSent = (cause: unknown) =>
  Object.assign(new Error('The call was not sent.', { cause }), { code: 'ERR_NOT_SENT' })

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'http2ErrorCode' in error && error.http2ErrorCode === REFUSED_STREAM
}

/** Loads the library. A host should start fast, so it does this when it listens, or with its first call. */
export const loadUndici = () => import('undici')

/** A dispatcher for one call, and listeners for its end. */
export interface Way {
  dispatcher: Dispatcher
  /** Over HTTP/1.1, the connection ends with the call. */
  reset?: boolean
  /** Is called when the answer begins. */
  onAnswer?(): void
  /** Is called when a call that was sent ends without an answer. */
  onLoss?(): void
}

/** A connection over an agent of its own. */
export function connectOver(options: Agent.Options): Connection {
  const way = lazily(async (): Promise<Way> => ({ dispatcher: new (await loadUndici()).Agent(options) }))
  return sendOver(way)
}

/**
 * A connection over the way that `wayTo` chooses for each call. It calls `beforeSend` right before the first byte.
 *
 * @param wayTo gets the origin and the body
 */
export function sendOver(wayTo: (origin: string, body: OutgoingRequest['body']) => Promise<Way>): Connection {
  return async ({ url, method, headers, body, signal, beforeSend, onClosed }) => {
    const { origin, pathname, search } = new URL(url)
    const way = await wayTo(origin, body).catch((error: unknown) => {
      throw notSent(error)
    })
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      let connection: Dispatcher.DispatchController | undefined
      let hasAnswer = false
      let informational = 0
      let sink: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
      const fail = (error: unknown) => {
        const isOwn = isIntegrationError(error) && error !== signal?.reason
        const isSent = connection !== undefined && !isRefused(error)
        if (isSent && !hasAnswer) way.onLoss?.()
        reject(isSent || isOwn ? error : notSent(error))
      }
      const onAbort = () => {
        connection?.abort(signal?.reason)
        fail(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
      const end = () => {
        signal?.removeEventListener('abort', onAbort)
        onClosed?.()
      }

      way.dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method,
          headers: { 'user-agent': USER_AGENT, ...headers },
          reset: way.reset ?? false,
          body: body instanceof ReadableStream ? Readable.from(body) : body,
        },
        {
          // An error that is thrown here ends the call before anything is written.
          onRequestStart(controller) {
            signal?.throwIfAborted()
            beforeSend?.()
            connection = controller
          },
          onResponseStart(controller, status, headers) {
            hasAnswer = true
            way.onAnswer?.()
            if (status < 200) {
              informational += 1
              if (informational <= MAX_INFORMATIONAL) return
              throw new TypeError(`The server sent more than ${MAX_INFORMATIONAL} informational responses.`)
            }
            // The Response of the Node host’s HTTP server takes any status.
            if (status > 599) throw new TypeError(`The server answered with the status ${status}.`)
            const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
              start(opened) {
                sink = opened
              },
              pull: () => controller.resume(),
              cancel() {
                sink = undefined
                controller.abort(new Error('The rest of the response is not needed.'))
              },
            })
            const content = BODILESS.includes(status) ? null : decompress(stream, headers['content-encoding'])
            resolve(new Response(content, { status, headers: toPairs(headers) }))
          },
          onResponseData(controller, chunk) {
            // Comes with every resumption; passed on, it would ask for the next one without end.
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
            fail(error)
          },
        },
      )
    })
  }
}

/** The host does not ask for compression, but some servers always compress. */
function decompress(body: ReadableStream<Uint8Array<ArrayBuffer>>, encoding: string | string[] | undefined) {
  return encoding === 'gzip' || encoding === 'deflate'
    ? body.pipeThrough(new DecompressionStream(encoding))
    : body
}

function toPairs(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  )
}
