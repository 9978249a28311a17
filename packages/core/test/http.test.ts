import { gzipSync } from 'node:zlib'
import { IntegrationError } from '@org/core'
import { createHttpClient, type HttpRequest } from '@org/core/http'
import { type Fault, serve } from '@org/core/testing'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { inFakeTime } from './fixtures.ts'
import { HOUR_MS, startServer } from './http-server.ts'

const server = await startServer()
afterAll(() => server.close())
beforeEach(() => server.reset())

describe('a request', () => {
  it('carries the headers of the client and its own, which win, and resolves with the parsed response', async () => {
    const options = { headers: { 'x-token': 'of the client', 'x-client': 'yes' } }
    const { status, headers, body } = await server.request({ headers: { 'x-token': 'its own' } }, options)
    expect([status, headers.get('x-request'), body]).toEqual([200, '7', { ok: true }])
    const expected = { accept: 'application/json', 'x-client': 'yes', 'x-token': 'its own' }
    expect(Object.fromEntries(server.calls[0]?.headers ?? [])).toMatchObject(expected)
  })

  it('sends a value as JSON, and a composed text unchanged', async () => {
    await server.request({ method: 'POST', json: { to: 'Ada', none: undefined } })
    await server.request({ method: 'POST', jsonText: '{ "to":  "Bob" }' })
    expect(server.received.map(({ text }) => text)).toEqual(['{"to":"Ada"}', '{ "to":  "Bob" }'])
    const types = server.calls.map(({ headers }) => headers.get('content-type'))
    expect(types).toEqual(['application/json', 'application/json'])
  })

  it.each([
    ['/api/v1/', '/things/a%2Fb', '/api/v1/things/a%2Fb'],
    ['/api/v1', '//evil.test/x', '/api/v1/evil.test/x'],
    ['', '/http://evil.test/x', '/http://evil.test/x'],
  ])('below the base URL “%s” for %s goes to %s', async (base, path, target) => {
    await server.request({ path }, { baseUrl: server.url + base })
    expect(server.received[0]?.target).toBe(target)
  })

  it.each(['/things/..', '/things/%2e%2E/x', '/./x'])(
    'is not sent to the path “%s”, which leads elsewhere',
    async (path) => {
      expect(await server.failure({ path })).toMatchObject({ kind: 'connection', effect: 'none' })
      expect(server.received).toEqual([])
    },
  )

  it('sends a form, with lists repeated and absent values left out', async () => {
    await server.request({
      method: 'POST',
      form: { To: '+1', Body: 'a&b é', Url: ['x', 'y'], none: undefined },
    })
    expect(server.received[0]?.text).toBe('To=%2B1&Body=a%26b+%C3%A9&Url=x&Url=y')
    expect(server.calls[0]?.headers.get('content-type')).toBe('application/x-www-form-urlencoded')
  })

  it('encodes its query, repeats lists, and leaves out absent values', async () => {
    const query = { q: 'a&b=c d+é', ids: ['1', '2'], limit: 5, all: false, none: undefined, empty: [] }
    await server.request({ path: '/find', query })
    const target = '/find?q=a%26b%3Dc+d%2B%C3%A9&ids=1&ids=2&limit=5&all=false'
    expect(server.received[0]?.target).toBe(target)
  })

  it('takes an empty success as no body', async () => {
    server.faults.add({ status: 204 }, { empty: true })
    expect(await server.request({ method: 'DELETE' })).toMatchObject({ status: 204, body: undefined })
    expect(await server.request()).toMatchObject({ status: 200, body: undefined })
  })

  it.each([302, 307])('does not follow a redirect with %i', async (status) => {
    server.faults.add({ status, headers: { location: '/stolen' } })
    expect(await server.failure()).toMatchObject({ kind: 'status', status, effect: 'none' })
    expect(server.received.map(({ target }) => target)).toEqual(['/'])
  })
})

describe('a response', () => {
  it('may have exactly the longest length; one byte more is too_large', async () => {
    server.faults.add({ status: 200, body: JSON.stringify('x'.repeat(998)), times: 2 })
    expect((await server.request({ maxBytes: 1000 })).body).toHaveLength(998)
    const failure = await server.failure({ maxBytes: 999 })
    expect(failure).toMatchObject({ kind: 'too_large', status: 200, effect: 'unknown' })
    expect(server.received).toHaveLength(2)
  })

  it('is measured after decompression', async () => {
    const bomb = gzipSync(JSON.stringify('x'.repeat(2 * 1024 * 1024)))
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const zipped = await serve(async () => new Response(bomb, { headers }))
    expect(await server.failure({}, { baseUrl: zipped.url })).toMatchObject({ kind: 'too_large' })
    await zipped.close()
  })

  it.each([
    ['small objects', `[${'{},'.repeat(30_000)}{}]`, 'has more than 20,000 values'],
    ['keys', `{"":1${Array.from({ length: 6_000 }, (_, key) => `,"${key}":1`).join('')}}`, 'keys'],
    ['brackets', '['.repeat(400_000) + ']'.repeat(400_000), 'is nested deeper than 32 levels'],
  ])('of nothing but %s is too_large, and not parsed', async (_, text, excess) => {
    const parse = vi.spyOn(JSON, 'parse')
    const send = (status: number) => async () => new Response(text, { status })
    const options = { baseUrl: 'http://a.test', attempts: 1 }
    const failure = await server.failure({ method: 'POST' }, { ...options, fetch: send(200) })
    expect(failure).toMatchObject({ kind: 'too_large', status: 200, effect: 'unknown' })
    expect(failure.message).toContain(excess)
    const refusal = await server.failure({}, { ...options, fetch: send(422) })
    expect(refusal).toMatchObject({ kind: 'status', status: 422, effect: 'none', body: undefined })
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it('is counted without its texts, wherever they are cut', async () => {
    const flat = { text: `${'[[[{,:'.repeat(10_000)}\\`, list: ['\\"[', '\\'] }
    const bytes = new TextEncoder().encode(JSON.stringify(flat))
    const stream = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
        controller.close()
      },
    })
    const body = await server.request({}, { fetch: async () => new Response(stream) })
    expect(body).toMatchObject({ body: flat })
  })

  it('without an end is cut off at the limit', async () => {
    let chunks = 0
    const pull = (controller: ReadableStreamDefaultController) => {
      chunks += 1
      controller.enqueue(new Uint8Array(64 * 1024))
    }
    const endless = await serve(async () => new Response(new ReadableStream({ pull })))
    expect(await server.failure({}, { baseUrl: endless.url })).toMatchObject({ kind: 'too_large' })
    await endless.close()
    expect(chunks).toBeLessThan(500)
    const cancel = vi.fn()
    const fetch = async () => new Response(new ReadableStream({ pull, cancel }))
    expect(await server.failure({}, { fetch })).toMatchObject({ kind: 'too_large' })
    expect(cancel).toHaveBeenCalledOnce()
  })

  it.each([
    [422, 'none'],
    [500, 'unknown'],
  ])(
    'of failure with %i is one also if its words break off, with the effect “%s”',
    async (status, effect) => {
      const pull = (controller: ReadableStreamDefaultController) => controller.error(new Error('cut'))
      const fetch = async () => new Response(new ReadableStream({ pull }), { status })
      const failure = await server.failure({ method: 'POST' }, { fetch })
      expect(failure).toMatchObject({ kind: 'status', status, effect, body: undefined })
    },
  )

  it.each([{ truncate: true }, { html: true }, { cut: 'during' }] as const)(
    'of success is malformed, with a possible effect, after the fault %j',
    async (fault) => {
      server.faults.add(fault)
      const failure = await server.failure({ method: 'POST' })
      expect(failure).toMatchObject({ kind: 'malformed', status: 200, effect: 'unknown', body: undefined })
    },
  )

  it.each<[Fault, number, unknown]>([
    [{ status: 422, body: { code: 17 } }, 422, { code: 17 }],
    [{ status: 422, body: 'Sorry.' }, 422, undefined],
    [{ html: true, status: 403 }, 403, undefined],
  ])('of failure to %j has the status %i and the body %j, if it is JSON', async (fault, status, body) => {
    server.faults.add(fault)
    expect(await server.failure()).toMatchObject({ kind: 'status', effect: 'none', status, body })
  })
})

describe('a failure', () => {
  const requests: Record<string, Partial<HttpRequest>> = {
    GET: { method: 'GET' },
    PUT: { method: 'PUT', json: {} },
    DELETE: { method: 'DELETE' },
    'repeatable POST': { method: 'POST', json: {}, repeatable: true },
    POST: { method: 'POST', json: {} },
    PATCH: { method: 'PATCH', json: {} },
    'unrepeatable PUT': { method: 'PUT', json: {}, repeatable: false },
  }
  const harmless = ['GET', 'PUT', 'DELETE', 'repeatable POST']
  const risky = ['POST', 'PATCH', 'unrepeatable PUT']
  const noEffect: Fault[] = [{ status: 429 }]
  const unknownEffect: Fault[] = [
    ...[408, 500, 502, 503, 504].map((status) => ({ status })),
    ...(['before', 'after', 'during'] as const).map((cut) => ({ cut })),
    { truncate: true },
    { html: true },
  ]
  const final: Fault[] = [
    ...[400, 401, 403, 404, 405, 409, 410, 413, 422, 501, 505].map((status) => ({ status })),
    { html: true, status: 403 },
  ]
  const cases = (names: string[], faults: Fault[]) =>
    names.flatMap((name) => faults.map((fault): [string, Fault] => [name, fault]))

  it.each([...cases(harmless, [...noEffect, ...unknownEffect]), ...cases(risky, noEffect)])(
    'of a %s is retried after %j',
    async (name, fault) => {
      server.faults.add(fault)
      expect((await server.request(requests[name])).body).toEqual({ ok: true })
      expect([server.received.length, server.waits.length]).toEqual([2, 1])
    },
  )

  it.each([...cases(risky, [...unknownEffect, ...final]), ...cases(harmless, final)])(
    'of a %s is not retried after %j',
    async (name, fault) => {
      server.faults.add(fault)
      await server.failure(requests[name])
      expect([server.received.length, server.waits.length]).toEqual([1, 0])
    },
  )

  it.each([1, 3])('is thrown after %i attempts, which a request may set, too', async (attempts) => {
    server.faults.add(...Array(attempts - 1).fill({ status: 500 }), { status: 503, times: 8 })
    expect(await server.failure({}, { attempts })).toMatchObject({ status: 503 })
    expect(server.received).toHaveLength(attempts)
    await server.failure({ attempts }, { attempts: 7 })
    expect(server.received).toHaveLength(2 * attempts)
  })

  it.each<[Fault, 'none' | 'unknown']>([
    [{ status: 422 }, 'none'],
    [{ status: 429, times: 9 }, 'none'],
    [{ status: 408 }, 'unknown'],
    [{ status: 500 }, 'unknown'],
    [{ cut: 'after' }, 'unknown'],
  ])('of a POST after %j has the effect “%s”', async (fault, effect) => {
    server.faults.add(fault)
    expect(await server.failure({ method: 'POST', json: {} })).toMatchObject({ effect })
  })

  it('to connect has the effect “none”, and so even a POST is retried', async () => {
    const gone = await serve(async () => new Response())
    await gone.close()
    for (const baseUrl of [gone.url, 'http://nowhere.invalid']) {
      server.waits.length = 0
      const failure = await server.failure({ method: 'POST', json: {} }, { baseUrl })
      expect(failure).toMatchObject({ kind: 'connection', effect: 'none', status: undefined })
      expect(server.waits).toHaveLength(2)
    }
  })
})

describe('the wait before a retry', () => {
  it('is random below a bound that doubles up to two seconds', async () => {
    server.faults.add({ status: 500, times: 9 })
    await server.failure({}, { attempts: 9 })
    const bounds = [400, 800, 1_600, 2_000, 2_000, 2_000, 2_000, 2_000]
    expect(server.waits).toHaveLength(bounds.length)
    for (const [index, wait] of server.waits.entries()) expect(wait).toBeLessThanOrEqual(bounds[index] ?? 0)
    // Those below the same bound, too.
    expect(new Set(server.waits.slice(3)).size).toBeGreaterThan(1)
  })

  // Only a clock that is not in UTC shows whether a date without a zone is taken for local time.
  it.each([
    ['7', 7_000],
    ['0', 0],
    ['0.25', 250],
    ['1.5', 1_500],
    ['Sun, 22 Nov 2026 09:00:10 GMT', 10_000],
    ['Sunday, 22-Nov-26 09:00:10 GMT', 10_000],
    ['Sun Nov 22 09:00:10 2026', 10_000],
    ['Wed, 21 Oct 2015 07:28:00 GMT', 0],
  ])('follows the Retry-After “%s”: %i ms', async (value, expected) => {
    vi.stubEnv('TZ', 'America/New_York')
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-22T09:00:00Z'))
    server.faults.add({ status: 429, headers: { 'retry-after': value } })
    await server.request()
    clock.mockRestore()
    vi.unstubAllEnvs()
    expect(server.waits).toEqual([expected])
  })

  it.each(['soon', '-3', '2026-11-22T09:00:00Z'])('ignores the Retry-After “%s”', async (value) => {
    server.faults.add({ status: 429, headers: { 'retry-after': value } })
    expect(await server.failure({ attempts: 1 })).toMatchObject({ status: 429, retryAfter: undefined })
  })

  it('never goes beyond the deadline: the call fails at once with the Retry-After', async () => {
    server.faults.add({ status: 429, headers: { 'retry-after': '31' } })
    const failure = await server.failure({ deadline: Date.now() + 30_000 })
    expect(failure).toMatchObject({ kind: 'status', status: 429, retryAfter: 31 })
    expect([server.waits.length, server.received.length]).toEqual([0, 1])
  })

  it('leaves time for an attempt that must not be cut', async () => {
    server.faults.add({ status: 429, headers: { 'retry-after': '29' } })
    const late = { method: 'POST', deadline: Date.now() + 30_000 } as const
    expect(await server.failure(late)).toMatchObject({ status: 429, retryAfter: 29 })
    expect([server.waits.length, server.received.length]).toEqual([0, 1])
  })
})

describe('the time limit', () => {
  it('ends one attempt of a GET, and the next one may succeed', async () => {
    server.faults.add({ hang: true })
    const limits = { attemptMs: HOUR_MS, deadline: Date.now() + 3 * HOUR_MS }
    const { body } = await server.pastTheTime(() => server.request(limits))
    expect(body).toEqual({ ok: true })
    expect(server.received).toHaveLength(2)
  })

  it('ends a POST, whose effect is unknown', async () => {
    server.faults.add({ hang: 'after' })
    const failure = await server.pastTheTime(() => server.failure({ method: 'POST', attemptMs: HOUR_MS }))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown', status: undefined })
    expect(server.received).toHaveLength(1)
  })

  it('ends all attempts at the deadline, and sends nothing after it', async () => {
    server.faults.add({ hang: true, times: 9 })
    const limits = { deadline: Date.now() + HOUR_MS, attemptMs: 2 * HOUR_MS }
    const failure = await server.pastTheTime(() => server.failure(limits))
    expect(failure).toMatchObject({ kind: 'timeout' })
    expect(server.received).toHaveLength(1)
    const clock = vi.spyOn(Date, 'now').mockReturnValue(HOUR_MS)
    const late = await server.failure({ deadline: HOUR_MS })
    clock.mockRestore()
    expect(late).toMatchObject({ kind: 'timeout', effect: 'none' })
    expect(server.received).toHaveLength(1)
  })

  it('ends a call whose transport ignores the signal', async () => {
    const fetch = () => new Promise<never>(() => {})
    const failure = await inFakeTime(() => server.failure({ method: 'POST', attemptMs: 1_000 }, { fetch }))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown' })
  })

  it('may be more than a timer can count', async () => {
    const deadline = Number.POSITIVE_INFINITY
    expect((await server.request({ deadline, attemptMs: 2 ** 40 })).status).toBe(200)
  })

  it('leaves no timer and no listener behind', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    await server.request({ signal, attemptMs: 12_345 })
    const timers = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 12_345)
    expect(timers).toHaveLength(1)
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(timers[0]?.value)
    expect(removed.mock.calls).toEqual(added.mock.calls)
    vi.restoreAllMocks()
  })
})

describe('the signal of the caller', () => {
  it.each([
    ['an error', new Error('no more interest')],
    ['an error that decides, such as a lost claim', new IntegrationError('overloaded', 'no more interest')],
  ])(
    'ends a call during its request with %s, and the call is in doubt and not retried',
    async (_, reason) => {
      server.faults.add({ hang: true })
      const caller = new AbortController()
      const failure = server.failure({ signal: caller.signal })
      await expect.poll(() => server.received.length).toBe(1)
      caller.abort(reason)
      const cause = { message: 'no more interest' }
      expect(await failure).toMatchObject({ kind: 'aborted', effect: 'unknown', cause })
      expect([server.waits.length, server.received.length]).toEqual([0, 1])
    },
  )

  it.each([
    ['aborted', AbortSignal.abort()],
    ['timeout', AbortSignal.abort(new DOMException('late', 'TimeoutError'))],
  ])('ends a call as “%s” before it begins', async (kind, signal) => {
    expect(await server.failure({ signal })).toMatchObject({ kind, effect: 'none' })
    expect(server.received).toEqual([])
  })

  it.each([
    ['during the wait', (abort: () => void) => void setTimeout(abort), 429, 'none'],
    ['before the wait', (abort: () => void) => abort(), 429, 'none'],
    ['before the wait', (abort: () => void) => abort(), 503, 'unknown'],
  ])('ends a call %s for a retry, and the effect of its attempt counts', async (_, end, status, effect) => {
    const caller = new AbortController()
    const request = createHttpClient({
      baseUrl: server.url,
      async fetch() {
        end(() => caller.abort())
        return new Response(null, { status, headers: { 'retry-after': '20' } })
      },
    })
    const failure = request({ method: 'GET', path: '/', signal: caller.signal })
    await expect(failure).rejects.toMatchObject({ kind: 'aborted', effect })
  })

  it('ends a call without an effect if the transport says that nothing was sent', async () => {
    const caller = new AbortController()
    const fetch: typeof globalThis.fetch = (_, init) =>
      new Promise((_, reject) => {
        const notSent = Object.assign(new Error('It waited for a connection.'), { code: 'ERR_NOT_SENT' })
        init?.signal?.addEventListener('abort', () => reject(notSent))
        queueMicrotask(() => caller.abort())
      })
    const failure = await server.failure({ method: 'POST', signal: caller.signal }, { fetch })
    expect(failure).toMatchObject({ kind: 'aborted', effect: 'none' })
  })
})

it('a call that the host holds back fails with the reason of the host', async () => {
  const reason = new IntegrationError('delivery_in_progress', 'The claim is lost.')
  const fetch = vi.fn(() => Promise.reject(reason))
  await expect(server.request({ method: 'POST' }, { fetch })).rejects.toBe(reason)
  expect(fetch).toHaveBeenCalledOnce()
})
