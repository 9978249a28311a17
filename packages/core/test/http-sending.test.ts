import { once } from 'node:events'
import { createServer } from 'node:net'
import type { ProviderClientOptions, ProviderRequest } from '@org/core/http'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { inFakeTime } from './fixtures.ts'
import { change, runServer } from './http-server.ts'

const server = await runServer()
afterEach(() => void vi.unstubAllGlobals())

/** A stream of Workers. */
function FixedLengthStream() {
  return new TransformStream()
}

/** The globals by which the client knows a runtime. `tooling/runtimes` has the runtimes themselves. */
const runtimes = {
  Node: () => {},
  Bun: () => vi.stubGlobal('Bun', {}),
  Deno: () => vi.stubGlobal('Deno', {}),
  Workers: () => vi.stubGlobal('FixedLengthStream', FixedLengthStream),
}
const never = { kind: 'connection', effect: 'none' }
const post: Partial<ProviderRequest> = { ...change, json: {}, attempts: 1 }

it.each(Object.entries(runtimes))(
  'a POST on %s has its length, and leaves once if the connection breaks after it arrived',
  async (_, enter) => {
    enter()
    for (const body of ['1', '{"to":"Ada"}', `"${'é'.repeat(300_000)}"`]) {
      server.reset()
      await server.request({ ...change, body })
      server.faults.add({ cut: 'after' })
      expect(await server.failure({ ...change, body })).toMatchObject({ effect: 'unknown' })
      // Not compared as text: a failure would print all of it.
      expect(server.calls.map(({ text }) => text === body)).toEqual([true, true])
      const length = String(new TextEncoder().encode(body).length)
      expect(server.calls[0]?.headers.get('content-length')).toBe(length)
    }
  },
)

it('a POST on Deno has a body that the runtime cannot repeat, even if it is empty', async () => {
  runtimes.Deno()
  const bodies: unknown[] = []
  const fetch = async (_: unknown, { body }: RequestInit = {}) => {
    bodies.push(body)
    return new Response('{}')
  }
  for (const json of [undefined, {}]) await server.request({ ...change, json }, { fetch })
  await server.request({}, { fetch })
  expect(bodies).toEqual([expect.any(Blob), expect.any(Blob), null])
})

it.each([
  ['Node', 'unknown'],
  ['Bun', 'none'],
] as const)(
  'a POST on %s whose last piece nobody asks for in time has the effect “%s”',
  async (runtime, effect) => {
    runtimes[runtime]()
    // Workers read two pieces before they connect.
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const reader = new Response(init?.body ?? null).body?.getReader()
      for (const _ of [1, 2]) await reader?.read()
      return new Promise<never>(() => {})
    }
    const failure = await inFakeTime(() =>
      server.failure({ ...post, json: [1, 2], timeoutMs: 1_000 }, { fetch }),
    )
    expect(failure).toMatchObject({ kind: 'timeout', effect })
  },
)

describe('the error of a transport', () => {
  const coded = (code: string, facts: object = {}) => Object.assign(new Error(code), { code, ...facts })
  const refused = coded('ECONNREFUSED')
  const reset = coded('ECONNRESET', { syscall: 'read' })

  it.each<[string, Error, 'none' | 'unknown']>([
    ['the host held it back', coded('ERR_NOT_SENT'), 'none'],
    ['nobody listens', refused, 'none'],
    ['nobody listens, on Bun', coded('ConnectionRefused'), 'none'],
    ['the name is unknown', coded('EAI_OTHER', { syscall: 'getaddrinfo' }), 'none'],
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
    ['it says nothing', new Error('fetch failed'), 'unknown'],
  ])('tells, at any depth, whether the call may have had an effect: %s', async (_, error, effect) => {
    const around = new TypeError('fetch failed', { cause: new Error('in between', { cause: error }) })
    for (const thrown of [error, around]) {
      const failure = await server.failure(post, { fetch: () => Promise.reject(thrown) })
      expect(failure).toMatchObject({ kind: 'connection', effect })
      // The errors around it hold the request with its token.
      expect(failure.cause).toBe(error)
    }
  })

  it('that it sent nothing counts also if the caller ends the call', async () => {
    const caller = new AbortController()
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(coded('ERR_NOT_SENT')))
        queueMicrotask(() => caller.abort())
      })
    const failure = await server.failure({ ...post, signal: caller.signal }, { fetch })
    expect(failure).toMatchObject({ kind: 'aborted', effect: 'none' })
  })
})

describe('a call that never reached the server', () => {
  const fails = () => {
    throw new TypeError('the mock has no such route')
  }
  it.each<[string, Partial<ProviderRequest>, Partial<ProviderClientOptions>]>([
    ['a port that the runtime blocks', {}, { baseUrl: 'http://127.0.0.1:6000' }],
    ['a scheme that is not HTTP', {}, { baseUrl: 'ftp://127.0.0.1' }],
    ['no scheme', {}, { baseUrl: '127.0.0.1' }],
    ['a password', {}, { baseUrl: 'http://ada:secret@127.0.0.1' }],
    ['a path that leads elsewhere', { path: '/things/..' }, {}],
    ['an escaped path that leads elsewhere', { path: '/things/%2e%2E/x' }, {}],
    ['a header that nobody can send', { headers: { 'x-name': 'Ada\u0100' } }, {}],
    ['a fetch that throws instead of rejecting', {}, { fetch: fails }],
  ])('had no effect if it has %s', async (_, request, options) => {
    expect(await server.failure({ ...post, ...request }, options)).toMatchObject(never)
    expect(server.calls).toEqual([])
  })

  it.each<[string, string, string | Uint8Array]>([
    ['https', 'an answer in plain HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
    ['https', 'no answer', ''],
  ])('had no effect if the handshake of %s ends with %s', async (scheme, _, answer) => {
    const rough = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(answer))
    })
    onTestFinished(() => void rough.close())
    await once(rough.listen(0, '127.0.0.1'), 'listening')
    const { port } = z.object({ port: z.number() }).parse(rough.address())
    expect(await server.failure(post, { baseUrl: `${scheme}://127.0.0.1:${port}` })).toMatchObject(never)
  })
})
