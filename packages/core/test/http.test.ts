/** Calls of a provider over real HTTP: requests, responses, failures and their effects, retries, and time limits. */
import { getEventListeners, once } from 'node:events'
import { createServer } from 'node:net'
import { IntegrationError } from '@org/core'
import {
  type CallOptions,
  createGate,
  createProviderClient,
  type HttpFailure,
  type Provider,
  type ProviderClientOptions,
  type ProviderRequest,
  readJson,
} from '@org/core/http'
import { createEmulator, createFaults, type Fault, serve } from '@org/core/testing'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { inFakeTime } from './fixtures.ts'

/** A server with faults on demand. `inProcess` is the same without a socket, for tests that replace the timers. */
const faults = createFaults()
const { calls, fetch: inProcess } = createEmulator({
  faults,
  handle: () => Response.json({ ok: true }),
  details: ({ text, headers }) => ({ text, headers: Object.fromEntries(headers) }),
})
const { url, close } = await serve(inProcess)
/** The pauses between attempts, in milliseconds. The client records them, and does not wait. */
const waits: number[] = []
let failed: HttpFailure | undefined

const provider: Provider = {
  name: 'greeter',
  title: 'The provider',
  credentials: { title: 'token', missingHint: '', rejectedHint: '' },
  probe: { path: '/', isAnswer: () => true },
  isOwnForm: () => false,
  readFailure(failure) {
    failed = failure
    return {}
  },
}

function reset(): void {
  faults.clear()
  calls.length = 0
  waits.length = 0
  failed = undefined
}
beforeEach(reset)
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})
afterAll(close)

/** Makes one call, by default a read, and returns the body of the response. */
async function call(
  { signal, deadline, timeoutMs, ...request }: Partial<ProviderRequest> & CallOptions = {},
  options: Partial<ProviderClientOptions & Pick<Provider, 'readFailure' | 'isOwnForm'>> = {},
) {
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  const connection = { baseUrl: url, credential: 'token', readJson, wait, ...options }
  const client = createProviderClient({ ...provider, ...options }, connection)
  const limits = { signal, deadline, timeoutMs }
  return (await client.call({ method: 'GET', path: '/', ...request }, (body) => ({ body }), limits)).body
}

/** Makes a call that must fail, and returns the failure of its last attempt. */
async function failureOf(...given: Parameters<typeof call>) {
  const error: unknown = await call(...given).catch((reason: unknown) => reason)
  return failed ?? expect.fail(`Expected a failure, and not ${error}.`)
}

const change: Partial<ProviderRequest> = { method: 'POST', change: 'the person was greeted' }
const post: Partial<ProviderRequest> = { ...change, json: {}, attempts: 1 }

/** Responds with a body that is read in pieces. */
const streaming = (source: UnderlyingDefaultSource<Uint8Array>, status = 200) => ({
  fetch: async () => new Response(new ReadableStream(source), { status }),
})

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

describe('a request', () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const asJson = { 'content-type': 'application/json' }
  it.each<[Partial<ProviderRequest>, string, object]>([
    [{ json: { to: 'Ada', none: undefined }, headers: { 'x-token': 'its own' } }, '{"to":"Ada"}', asJson],
    [{ body: '{ "to":  "Bob" }' }, '{ "to":  "Bob" }', { ...asJson, 'x-token': 'of the client' }],
    [{ body: 'To=%2B1', headers: form }, 'To=%2B1', form],
  ])('of %j sends its body unchanged, and the headers of the client below its own', async (...row) => {
    const [request, text, headers] = row
    await call({ ...change, ...request }, { headers: { 'x-token': 'of the client' } })
    expect(calls).toMatchObject([
      { text, headers: { accept: 'application/json', ...headers, ...request.headers } },
    ])
  })

  const query = { q: 'a&b=c d+é', ids: ['1', '2'], all: false, none: undefined }
  it.each<[string, Partial<ProviderRequest>, string]>([
    ['/api/v1/', { path: '/things/a%2Fb', query: {} }, '/api/v1/things/a%2Fb'],
    ['/api/v1', { path: '//evil.test/x' }, '/api/v1/evil.test/x'],
    ['', { path: '/http://evil.test/x' }, '/http://evil.test/x'],
    ['', { query }, '/?q=a%26b%3Dc+d%2B%C3%A9&ids=1&ids=2&all=false'],
  ])('below the base URL “%s” with %j goes to %s', async (base, request, target) => {
    await call(request, { baseUrl: url + base })
    expect(calls).toMatchObject([{ path: target }])
  })

  it.each(Object.entries(runtimes))(
    'with a body on %s has its length, and leaves once if the connection breaks after it arrived',
    async (_, enter) => {
      enter()
      for (const body of ['1', '{"to":"Ada"}', `"${'é'.repeat(300_000)}"`]) {
        reset()
        await call({ ...change, body })
        faults.add({ cut: 'after' })
        expect(await failureOf({ ...change, body })).toMatchObject({ effect: 'unknown' })
        // Not compared as text: a failure would print all of it.
        expect(calls.map(({ text }) => text === body)).toEqual([true, true])
        expect(calls[0]?.headers).toHaveProperty('content-length', `${new Blob([body]).size}`)
      }
    },
  )

  it('on Deno has a body that the runtime cannot repeat, even if it is empty', async () => {
    runtimes.Deno()
    const bodies: unknown[] = []
    const fetch = async (_: unknown, { body }: RequestInit = {}) => {
      bodies.push(body)
      return new Response('{}')
    }
    for (const json of [undefined, {}]) await call({ ...change, json }, { fetch })
    await call({}, { fetch })
    expect(bodies).toEqual([expect.any(Blob), expect.any(Blob), null])
  })

  it.each([
    ['Node', 'unknown'],
    ['Bun', 'none'],
  ] as const)('on %s whose last piece nobody asks for in time has the effect “%s”', async (...row) => {
    const [runtime, effect] = row
    runtimes[runtime]()
    // Workers read two pieces before they connect.
    const fetch: typeof globalThis.fetch = async (_, init) => {
      const reader = new Response(init?.body ?? null).body?.getReader()
      for (const _ of [1, 2]) await reader?.read()
      return new Promise<never>(() => {})
    }
    const failure = await inFakeTime(() => failureOf({ ...post, json: [1, 2], timeoutMs: 1_000 }, { fetch }))
    expect(failure).toMatchObject({ kind: 'timeout', effect })
  })

  it.each<[string, Partial<ProviderRequest>, Partial<ProviderClientOptions>]>([
    ['a port that the runtime blocks', {}, { baseUrl: 'http://127.0.0.1:6000' }],
    ['a scheme that is not HTTP', {}, { baseUrl: 'ftp://127.0.0.1' }],
    ['no scheme', {}, { baseUrl: '127.0.0.1' }],
    ['a user', {}, { baseUrl: 'http://ada@127.0.0.1' }],
    ['a password', {}, { baseUrl: 'http://:secret@127.0.0.1' }],
    ['a path that leads elsewhere', { path: '/things/..' }, {}],
    ['an escaped path that leads elsewhere', { path: '/things/%2e%2E/x' }, {}],
    ['a header that nobody can send', { headers: { 'x-name': 'Ada\u0100' } }, {}],
    ['a fetch that throws instead of rejecting', {}, { fetch: () => expect.fail('no such route') }],
  ])('had no effect if it has %s', async (_, request, options) => {
    expect(await failureOf({ ...post, ...request }, options)).toMatchObject({
      kind: 'connection',
      effect: 'none',
    })
    expect(calls).toEqual([])
  })
})

describe('a response', () => {
  const tooLarge = { kind: 'too_large', status: 200, effect: 'unknown' }
  const refused = { kind: 'status', status: 422, effect: 'none', body: undefined }

  it('that is empty is no body, and one that redirects is not followed', async () => {
    faults.add({ empty: true }, { status: 307, headers: { location: '/stolen' } })
    expect(await call()).toBeUndefined()
    expect(await failureOf()).toMatchObject({ kind: 'status', status: 307, effect: 'none' })
    expect(calls).toHaveLength(2)
  })

  it('that is too long is cut off at the limit, and not asked for again', async () => {
    const [cancel, bytes] = [vi.fn(), new Uint8Array(50_000).fill(0x20)]
    const endless = streaming({ pull: (controller) => controller.enqueue(bytes), cancel })
    expect(await failureOf({ maxBytes: 99_999 }, endless)).toMatchObject(tooLarge)
    expect(cancel).toHaveBeenCalledOnce()
    const exact = { fetch: async () => new Response('"'.padEnd(99_999, 'x').concat('"')) }
    expect(await call({ maxBytes: 100_000 }, exact)).toHaveLength(99_998)
    expect([await failureOf({ maxBytes: 99_999 }, exact), waits]).toMatchObject([tooLarge, []])
  })

  it('with too many values is not parsed', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const many = `[${'0,'.repeat(20_000)}0]`
    const send = (status: number) => ({ fetch: async () => new Response(many, { status }) })
    expect(await failureOf(change, send(200))).toMatchObject(tooLarge)
    expect(await failureOf({}, send(422))).toMatchObject(refused)
    expect(parse).not.toHaveBeenCalled()
  })

  it('may arrive byte by byte', async () => {
    const start = (controller: ReadableStreamDefaultController) => {
      for (const byte of new TextEncoder().encode('{"text":"é😀"}')) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    }
    expect(await call({}, streaming({ start }))).toEqual({ text: 'é😀' })
  })

  it('that refuses the call refuses it, also if its words are not JSON, or break off', async () => {
    faults.add({ status: 422, body: { code: 17 } }, { status: 422, body: 'Sorry.' })
    expect(await failureOf()).toMatchObject({ ...refused, body: { code: 17 } })
    expect(await failureOf()).toMatchObject(refused)
    const cut = streaming({ start: (controller) => controller.error(new Error('cut')) }, 422)
    expect(await failureOf({}, cut)).toMatchObject(refused)
  })
})

describe('a failure', () => {
  const statuses = (...all: number[]) => all.map((status) => ({ status }))
  const none = { kind: 'status', effect: 'none' }
  const unknown = { kind: 'status', effect: 'unknown' }
  const broken = { kind: 'connection', effect: 'unknown' }
  const malformed = { kind: 'malformed', effect: 'unknown', status: 200 }
  const page = { ...none, body: undefined }
  it.each<[string, Fault[], object, number, number]>([
    ['a refusal for now', statuses(429), none, 2, 2],
    ['“not now”, perhaps of a gateway', statuses(408, 425, 503), unknown, 2, 1],
    ['a fault of the server', statuses(500, 502, 504), unknown, 2, 1],
    ['a connection that breaks', [{ cut: 'before' }, { cut: 'after' }], broken, 2, 1],
    ['no whole JSON', [{ truncate: true }, { html: true }, { cut: 'during' }], malformed, 2, 1],
    ['a final fault of the server', statuses(501), unknown, 1, 1],
    ['a refusal', statuses(400, 401, 404, 409, 422), none, 1, 1],
    ['a page', [{ html: true, status: 403 }], page, 1, 1],
  ])('that is %s (%j) is %j, after %i attempts of a read and %i of a change', async (...row) => {
    const [, kinds, known, ofRead, ofChange] = row
    for (const fault of kinds)
      for (const [request, attempts] of [
        [{}, ofRead],
        [change, ofChange],
      ] as const) {
        reset()
        faults.add({ ...fault, times: 2 })
        expect(await failureOf({ ...request, attempts: 2 })).toMatchObject(known)
        expect([calls.length, waits.length]).toEqual([attempts, attempts - 1])
      }
  })

  it.each([408, 425, 503])('that is %i in the own form of the provider had no effect', async (status) => {
    faults.add({ status, times: 2 })
    const failure = await failureOf({ ...change, attempts: 2 }, { isOwnForm: () => true })
    expect([failure, calls.length]).toMatchObject([{ status, effect: 'none' }, 2])
  })

  it('that the provider calls final, or by which the host holds the call back, is not retried', async () => {
    const final = new IntegrationError('provider_rejected', 'The quota of the month is used up.')
    faults.add({ status: 429, times: 2 })
    await expect(call({}, { readFailure: () => final })).rejects.toBe(final)
    const lost = new IntegrationError('delivery_in_progress', 'The claim is lost.')
    await expect(call(change, { fetch: () => Promise.reject(lost) })).rejects.toBe(lost)
    expect([calls.length, waits]).toEqual([1, []])
  })

  it('waits before a retry at random below a bound that doubles up to two seconds', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    faults.add({ status: 500, times: 9 })
    await failureOf({ attempts: 6 })
    expect(waits).toEqual([200, 400, 800, 1_000, 1_000])
    reset()
    faults.add({ status: 500, times: 9 })
    await failureOf()
    expect(calls).toHaveLength(3)
  })

  // Only a clock that is not in UTC shows whether a date without a zone is taken for local time.
  it.each([
    ['7', 7],
    ['0.25', 0.25],
    ['Sun, 22 Nov 2026 09:00:10 GMT', 10],
    ['Sun Nov 22 09:00:10 2026', 10],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
    ['soon', undefined],
    ['-3', undefined],
    ['2026-11-22T09:00:00Z', undefined],
  ])('with the Retry-After “%s” is retried after %s s', async (value, seconds) => {
    vi.stubEnv('TZ', 'America/New_York')
    vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-22T09:00:00Z'))
    faults.add({ status: 429, headers: { 'retry-after': value }, times: 2 })
    expect(await failureOf({ attempts: 2 })).toHaveProperty('retryAfter', seconds)
    expect(waits).toEqual([seconds === undefined ? expect.any(Number) : seconds * 1000])
  })

  // The second attempt of the change would be cut, in doubt.
  it.each([
    ['read', {}, 31, 1],
    ['read', {}, 29, 2],
    ['change', change, 29, 1],
  ] as const)('of a %s (%j) that may be repeated in %i of 30 s is final after %i', async (...row) => {
    const [, request, retryAfter, attempts] = row
    faults.add({ status: 429, headers: { 'retry-after': `${retryAfter}` }, times: 2 })
    const failure = await failureOf({ ...request, attempts: 2, timeoutMs: 30_000 })
    expect([failure, calls.length]).toMatchObject([{ status: 429, retryAfter }, attempts])
  })
})

describe('the gate of an account', () => {
  const shut = { code: 'provider_error', effect: 'none', retryable: true }
  const made = { ok: true }

  /** A gate that a change with an unknown outcome has shut. */
  async function openBroken(options: Parameters<typeof call>[1]) {
    const broken = { gate: createGate()('dep_1'), ...options }
    faults.add({ method: 'POST', status: 500 })
    expect(await failureOf(change, broken)).toMatchObject({ effect: 'unknown' })
    return broken
  }

  it('holds up no other account: neither another token, nor another origin', async () => {
    const options = await openBroken({ fetch: inProcess })
    faults.add({ method: 'GET', status: 500 })
    await expect(call(change, { ...options, baseUrl: `${url}/v2` })).rejects.toMatchObject(shut)
    expect(await call(change, { ...options, credential: 'other' })).toEqual(made)
    expect(await call(change, { ...options, baseUrl: 'http://elsewhere.test' })).toEqual(made)
  })

  it.each([
    [401, true, true],
    [404, true, true],
    [422, true, true],
    [408, true, false],
    [425, true, false],
    [429, true, false],
    [500, true, false],
    [503, true, false],
    [404, false, false],
  ])('after a read with status %i, in the own form of the provider: %s, is open: %s', async (...row) => {
    const [status, isOwnForm, isOpen] = row
    const options = await openBroken({ isOwnForm: () => isOwnForm })
    faults.add({ method: 'GET', status })
    const next = call(change, options)
    await (isOpen ? expect(next).resolves.toEqual(made) : expect(next).rejects.toMatchObject(shut))
    expect(calls.map(({ method }) => method)).toEqual(['POST', 'GET', ...(isOpen ? ['POST'] : [])])
  })
})

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
      const failure = await failureOf(post, { fetch: () => Promise.reject(thrown) })
      // The errors around the cause hold the request with its token.
      expect([failure, failure.cause]).toMatchObject([{ kind: 'connection', effect }, error])
    }
  })

  it('that it sent nothing counts also if the caller ends the call', async () => {
    const caller = new AbortController()
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(coded('ERR_NOT_SENT')))
        queueMicrotask(() => caller.abort())
      })
    const failure = await failureOf({ ...post, signal: caller.signal }, { fetch })
    expect(failure).toMatchObject({ kind: 'aborted', effect: 'none' })
  })

  it.each(['HTTP/1.1 400 Bad Request\r\n\r\n', ''])(
    'says that nothing was sent if the handshake of TLS is answered with “%s”',
    async (answer) => {
      const rough = createServer((socket) => {
        socket.on('error', () => {}).once('data', () => socket.end(answer))
      })
      onTestFinished(() => void rough.close())
      await once(rough.listen(0, '127.0.0.1'), 'listening')
      const { port } = z.object({ port: z.number() }).parse(rough.address())
      const failure = await failureOf(post, { baseUrl: `https://127.0.0.1:${port}` })
      expect(failure).toMatchObject({ kind: 'connection', effect: 'none' })
    },
  )
})

describe('the time limit', () => {
  it('ends one attempt of a read, and the next one may succeed', async () => {
    faults.add({ hang: true })
    expect(await inFakeTime(() => call({}, { fetch: inProcess }))).toEqual({ ok: true })
    expect(calls).toHaveLength(2)
  })

  it('ends all attempts at the deadline, and sends nothing after it', async () => {
    faults.add({ hang: true, times: 9 })
    const failure = await inFakeTime(() => failureOf({ timeoutMs: 5_000 }, { fetch: inProcess }))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown' })
    expect(await failureOf({ deadline: Date.now() })).toMatchObject({ kind: 'timeout', effect: 'none' })
    expect(calls).toHaveLength(1)
  })

  it('ends a change whose transport ignores the signal, with an unknown effect and no retry', async () => {
    const fetch = vi.fn(() => new Promise<never>(() => {}))
    const failure = await inFakeTime(() => failureOf({ ...change, timeoutMs: 60_000 }, { fetch }))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown' })
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('may be more than a timer can count, and leaves no timer and no listener behind', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const set = vi.spyOn(globalThis, 'setTimeout')
    const { signal } = new AbortController()
    await call({ ...change, signal, timeoutMs: Number.POSITIVE_INFINITY }, { fetch: inProcess })
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([2 ** 31 - 1])
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []])
  })
})

describe('the signal of the caller', () => {
  it.each([new Error('no interest'), new IntegrationError('overloaded', 'no interest')])(
    'ends a call during its request, in doubt and without a retry, with %o',
    async (cause) => {
      faults.add({ hang: true })
      const caller = new AbortController()
      const failure = failureOf({ signal: caller.signal })
      await expect.poll(() => calls.length).toBe(1)
      caller.abort(cause)
      expect(await failure).toMatchObject({ kind: 'aborted', effect: 'unknown', cause })
      expect([calls.length, waits]).toEqual([1, []])
    },
  )

  it.each([
    ['aborted', AbortSignal.abort()],
    ['timeout', AbortSignal.abort(new DOMException('late', 'TimeoutError'))],
  ])('ends a call as “%s” before it begins', async (kind, signal) => {
    expect(await failureOf({ signal })).toMatchObject({ kind, effect: 'none' })
    expect(calls).toEqual([])
  })

  it.each([
    [429, 'none'],
    [503, 'unknown'],
  ])('ends the wait after %i, and the effect of its attempt counts: “%s”', async (status, effect) => {
    const caller = new AbortController()
    faults.add({ status, headers: { 'retry-after': '20' } })
    const failure = failureOf({ signal: caller.signal }, { wait: undefined })
    await expect.poll(() => calls[0]?.status).toBe(status)
    setTimeout(() => caller.abort())
    expect(await failure).toMatchObject({ kind: 'aborted', effect })
    expect(calls).toHaveLength(1)
  })
})
