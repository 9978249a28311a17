/**
 * Sends requests over undici's connections. It takes a third of the processor time of Node's own `fetch`, and
 * checks the lease once the connection is open.
 */
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

/** The smallest window of HTTP/2, in bytes. A longer body would wait for the server to open it. */
const SHORT_BODY = 65_535
/** A shared connection that was silent for longer may be gone, so it carries no write. In milliseconds. */
const LONGEST_SILENCE_MS = 1_000

/** The call had no effect: its first byte was not written, or the server refused it unprocessed. Core knows the code. */
const notSent = (cause: unknown) =>
  Object.assign(new Error('The call was not sent.', { cause }), { code: 'ERR_NOT_SENT' })

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'http2ErrorCode' in error && error.http2ErrorCode === REFUSED_STREAM
}

/** Loads the library. A host should start fast, so it does this when it listens, or with its first call. */
export const loadUndici = () => import('undici')

async function createAgent(options: Agent.Options): Promise<Agent> {
  try {
    return new (await loadUndici()).Agent(options)
  } catch (error) {
    throw notSent(error)
  }
}

/** Connects over an agent of its own. */
export function connectOver(options: Agent.Options): Connection {
  const agent = lazily(() => createAgent(options))
  return async (request) => send(await agent(), request)
}

/**
 * Connects for calls that have an effect. A server may close a kept connection at the moment of the next call. Over
 * HTTP/1.1 nobody knows then whether that call arrived, so each call has a connection of its own. HTTP/2 tells which
 * calls were not processed, by GOAWAY and REFUSED_STREAM, and undici repeats those: a server that offers HTTP/2 gets
 * many short calls over one connection. After a call without an answer, the next ones have another.
 */
export function connectForWrites(): Connection {
  const open = () => createAgent({ keepAliveTimeout: LONGEST_SILENCE_MS, connect: { preferH2: true } })
  let agent = lazily(open)
  return async (request) => {
    const used = agent
    const dispatcher = await used()
    return send(dispatcher, request, () => {
      if (agent !== used) return
      agent = lazily(open)
      // The calls under way end first.
      void dispatcher.close()
    })
  }
}

/**
 * Sends a request, and calls its `beforeSend` right before the first byte.
 *
 * @param onLoss makes the call a write; is called when it was sent and ends without an answer
 */
async function send(
  dispatcher: Dispatcher,
  { url, method, headers, body, signal, beforeSend }: OutgoingRequest,
  onLoss?: () => void,
): Promise<Response> {
  const { origin, pathname, search } = new URL(url)
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    let connection: Dispatcher.DispatchController | undefined
    let hasAnswer = false
    let informational = 0
    let sink: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined
    const fail = (error: unknown) => {
      const isOwn = isIntegrationError(error) && error !== signal?.reason
      const isSent = connection !== undefined && !isRefused(error)
      if (isSent && !hasAnswer) onLoss?.()
      reject(isSent || isOwn ? error : notSent(error))
    }
    const onAbort = () => {
      connection?.abort(signal?.reason)
      fail(signal?.reason)
    }
    signal?.addEventListener('abort', onAbort)
    const end = () => signal?.removeEventListener('abort', onAbort)

    dispatcher.dispatch(
      {
        origin,
        path: pathname + search,
        method,
        headers: { 'user-agent': USER_AGENT, ...headers },
        body,
        // Over HTTP/1.1, the connection ends with a write.
        reset: onLoss !== undefined,
        ...(onLoss && { allowH2: (body?.length ?? 0) <= SHORT_BODY }),
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
