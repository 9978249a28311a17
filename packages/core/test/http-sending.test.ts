import { createServer, type Server, type Socket } from 'node:net'
import type { HttpRequest } from '@org/core/http'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startServer } from './http-server.ts'

const server = await startServer()
afterAll(() => server.close())
beforeEach(() => server.reset())
afterEach(() => void vi.unstubAllGlobals())

const long = `[{"a":"${'é'.repeat(300_000)}"},"ö${'x'.repeat(600_000)}"]`

class FixedLength extends TransformStream {
  constructor(_bytes: number) {
    super()
  }
}

/** The globals by which the client knows a runtime. */
const runtimes = {
  Node: () => {},
  Bun: () => vi.stubGlobal('Bun', {}),
  Deno: () => vi.stubGlobal('Deno', {}),
  Workers: () => vi.stubGlobal('FixedLengthStream', FixedLength),
}

describe.each(Object.entries(runtimes))('a POST on %s', (_name, enter) => {
  it.each<[string, Partial<HttpRequest>, string]>([
    ['a short text', { json: { to: 'Ada' } }, '{"to":"Ada"}'],
    ['a long text', { jsonText: long }, long],
    ['one character', { jsonText: '1' }, '1'],
  ])('sends %s with its length', async (_, request, text) => {
    enter()
    await server.request({ method: 'POST', ...request })
    // Not compared as text: a failure would print all of it.
    expect(server.received.map((received) => received.text === text)).toEqual([true])
    const length = String(new TextEncoder().encode(text).length)
    expect(server.calls[0]?.headers.get('content-length')).toBe(length)
  })

  it.each<Partial<HttpRequest>>([{ json: {} }, { jsonText: long }])(
    'leaves once, and has an unknown effect, if the connection breaks after it arrived',
    async (request) => {
      enter()
      server.faults.add({ cut: 'after' })
      expect(await server.failure({ method: 'POST', ...request })).toMatchObject({ effect: 'unknown' })
      expect(server.received).toHaveLength(1)
    },
  )
})

it('a POST on Deno has a body that the runtime cannot repeat, even if it is empty', async () => {
  runtimes.Deno()
  const bodies: unknown[] = []
  const fetch = async (_: unknown, { body }: RequestInit = {}) => {
    bodies.push(body)
    return new Response('{}')
  }
  for (const json of [undefined, {}]) await server.request({ method: 'POST', json }, { fetch })
  await server.request({}, { fetch })
  expect(bodies).toEqual([expect.any(Blob), expect.any(Blob), null])
})

/** A server below HTTP. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const rough: Server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => rough.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    rough.close()
    for (const socket of sockets) socket.destroy()
  })
  const address = rough.address()
  return `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

describe('the error of a transport', () => {
  const coded = (code: string, facts: object = {}) => Object.assign(new Error(code), { code, ...facts })
  const refused = coded('ECONNREFUSED', { syscall: 'connect' })
  const reset = coded('ECONNRESET', { syscall: 'read' })

  it.each<[string, Error, 'none' | 'unknown']>([
    ['the host held it back', coded('ERR_NOT_SENT'), 'none'],
    ['nobody listens', refused, 'none'],
    ['nobody listens, on Bun', coded('ConnectionRefused'), 'none'],
    ['the name is unknown', coded('EAI_AGAIN', { syscall: 'getaddrinfo' }), 'none'],
    ['there is no descriptor left', coded('EMFILE', { syscall: 'connect' }), 'none'],
    ['no connection came in time', coded('UND_ERR_CONNECT_TIMEOUT'), 'none'],
    ['the certificate has expired', coded('CERT_HAS_EXPIRED'), 'none'],
    ['the proxy refuses', new Error('Proxy response (407) !== 200 when HTTP Tunneling'), 'none'],
    ['ALPN is refused', coded('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'), 'none'],
    ['the stream is refused', new Error('Stream closed with error code NGHTTP2_REFUSED_STREAM'), 'none'],
    ['no address answers', new AggregateError([refused, refused]), 'none'],
    ['only some addresses do not answer', new AggregateError([refused, reset]), 'unknown'],
    ['it names no error', new AggregateError([]), 'unknown'],
    ['the connection broke', reset, 'unknown'],
    ['the socket closed', coded('UND_ERR_SOCKET'), 'unknown'],
    ['it says nothing', new Error('fetch failed'), 'unknown'],
  ])('tells, at any depth, whether the call may have had an effect: %s', async (_, error, effect) => {
    for (const thrown of [
      error,
      new TypeError('fetch failed', { cause: new Error('in between', { cause: error }) }),
    ]) {
      const fetch = () => Promise.reject(thrown)
      const failure = await server.failure({ method: 'POST', attempts: 1 }, { fetch })
      expect(failure).toMatchObject({ kind: 'connection', effect })
      // The errors around it hold the request with its token.
      expect(failure.cause).toBe(error)
    }
  })
})

it('a fetch that throws instead of rejecting has sent nothing', async () => {
  const fetch = () => {
    throw new TypeError('the mock has no such route')
  }
  const failure = await server.failure({ method: 'POST', attempts: 1 }, { fetch })
  expect(failure).toMatchObject({ kind: 'connection', effect: 'none' })
})

describe('a call that never reached the server', () => {
  const post: Partial<HttpRequest> = { method: 'POST', json: {}, attempts: 1 }
  const never = { kind: 'connection', effect: 'none' }

  it.each([
    ['a port that the runtime blocks', 'http://127.0.0.1:6000'],
    ['a scheme that is not HTTP', 'ftp://127.0.0.1'],
    ['no scheme', '127.0.0.1'],
    ['no host', 'http://'],
    ['a password', 'http://ada:secret@127.0.0.1'],
  ])('had no effect if the URL has %s', async (_, baseUrl) => {
    expect(await server.failure(post, { baseUrl })).toMatchObject(never)
  })

  it('had no effect if a header is invalid, and is not even tried', async () => {
    expect(await server.failure({ ...post, headers: { 'x-name': 'Ada\u0100' } })).toMatchObject(never)
    expect(server.received).toEqual([])
  })

  it.each<[string, (socket: Socket) => void]>([
    ['answers in HTTP', (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['answers in SMTP', (socket) => void socket.end('220 mail.example.com ESMTP\r\n')],
    ['closes the connection', (socket) => void socket.destroy()],
  ])('had no effect if the server %s during the handshake of TLS', async (_, answer) => {
    const host = await listen((socket) => void socket.once('data', () => answer(socket)))
    expect(await server.failure(post, { baseUrl: `https://${host}` })).toMatchObject(never)
  })

  it('had no effect if a server that expects TLS refuses it', async () => {
    const alert = Uint8Array.of(21, 3, 1, 0, 2, 2, 70)
    const host = await listen((socket) => void socket.once('data', () => socket.end(alert)))
    expect(await server.failure(post, { baseUrl: `http://${host}` })).toMatchObject(never)
  })

  it.each([
    ['a text on Node', 'unknown', 'Node'],
    ['a stream on Bun', 'none', 'Bun'],
    ['a Blob on Deno', 'unknown', 'Deno'],
  ] as const)(
    'with %s has the effect “%s” if its time is over before the connection is secured',
    async (_, effect, runtime) => {
      runtimes[runtime]()
      const baseUrl = `https://${await listen(() => {})}`
      const failure = await server.failure({ ...post, attemptMs: 1_000 }, { baseUrl })
      expect(failure).toMatchObject({ kind: 'timeout', effect })
    },
  )
})
