import { getEventListeners } from 'node:events'
import { IntegrationError } from '@org/core'
import type { ProviderRequest } from '@org/core/http'
import type { Fault } from '@org/core/testing'
import { describe, expect, it, vi } from 'vitest'
import { inFakeTime } from './fixtures.ts'
import { change, runServer } from './http-server.ts'

const server = await runServer()

/** Responds with a body that is read in pieces. */
const streaming = (source: UnderlyingDefaultSource<Uint8Array>, status = 200) => ({
  fetch: async () => new Response(new ReadableStream(source), { status }),
})

describe('a request', () => {
  it('carries the headers of the client and its own, which win', async () => {
    const options = { headers: { 'x-token': 'of the client', 'x-client': 'yes' } }
    expect(await server.request({ headers: { 'x-token': 'its own' } }, options)).toEqual({ ok: true })
    const expected = { accept: 'application/json', 'x-client': 'yes', 'x-token': 'its own' }
    expect(Object.fromEntries(server.calls[0]?.headers ?? [])).toMatchObject(expected)
  })

  const form = 'application/x-www-form-urlencoded'
  it.each<[Partial<ProviderRequest>, string, string]>([
    [{ json: { to: 'Ada', none: undefined } }, '{"to":"Ada"}', 'application/json'],
    [{ body: '{ "to":  "Bob" }' }, '{ "to":  "Bob" }', 'application/json'],
    [{ body: 'To=%2B1', headers: { 'content-type': form } }, 'To=%2B1', form],
  ])('with the body %j sends %s as %s', async (body, text, type) => {
    await server.request({ ...change, ...body })
    expect([server.calls[0]?.text, server.calls[0]?.headers.get('content-type')]).toEqual([text, type])
  })

  const query = { q: 'a&b=c d+é', ids: ['1', '2'], all: false, none: undefined }
  it.each<[string, Partial<ProviderRequest>, string]>([
    ['/api/v1/', { path: '/things/a%2Fb', query: {} }, '/api/v1/things/a%2Fb'],
    ['/api/v1', { path: '//evil.test/x' }, '/api/v1/evil.test/x'],
    ['', { path: '/http://evil.test/x' }, '/http://evil.test/x'],
    ['', { query }, '/?q=a%26b%3Dc+d%2B%C3%A9&ids=1&ids=2&all=false'],
  ])('below the base URL “%s” with %j goes to %s', async (base, request, target) => {
    await server.request(request, { baseUrl: server.url + base })
    expect(server.calls[0]?.path).toBe(target)
  })

  it('takes an empty success as no body, and follows no redirect', async () => {
    server.faults.add({ empty: true }, { status: 307, headers: { location: '/stolen' } })
    expect(await server.request()).toBeUndefined()
    expect(await server.failure()).toMatchObject({ kind: 'status', status: 307, effect: 'none' })
    expect(server.calls).toHaveLength(2)
  })
})

describe('a response', () => {
  const tooLarge = { kind: 'too_large', status: 200, effect: 'unknown' }

  it('that is too long is cut off at the limit, and not asked for again', async () => {
    const [cancel, bytes] = [vi.fn(), new Uint8Array(50_000).fill(0x20)]
    const endless = streaming({ pull: (controller) => controller.enqueue(bytes), cancel })
    expect(await server.failure({ maxBytes: 99_999 }, endless)).toMatchObject(tooLarge)
    expect(cancel).toHaveBeenCalledOnce()
    const exact = { fetch: async () => new Response('"'.padEnd(99_999, 'x').concat('"')) }
    expect(await server.request({ maxBytes: 100_000 }, exact)).toHaveLength(99_998)
    expect([await server.failure({ maxBytes: 99_999 }, exact), server.waits]).toMatchObject([tooLarge, []])
  })

  it('with too many values is not parsed', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const many = `[${'0,'.repeat(20_000)}0]`
    const send = (status: number) => ({ fetch: async () => new Response(many, { status }) })
    const message = 'The response has more than 20,000 values.'
    expect(await server.failure(change, send(200))).toMatchObject({ ...tooLarge, message })
    const refusal = { kind: 'status', status: 422, effect: 'none', body: undefined }
    expect(await server.failure({}, send(422))).toMatchObject(refusal)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it('may arrive byte by byte', async () => {
    const start = (controller: ReadableStreamDefaultController) => {
      for (const byte of new TextEncoder().encode('{"text":"é😀"}')) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    }
    expect(await server.request({}, streaming({ start }))).toEqual({ text: 'é😀' })
  })

  it('that refuses the call refuses it, also if its words are not JSON, or break off', async () => {
    const refused = { kind: 'status', status: 422, effect: 'none', body: undefined }
    server.faults.add({ status: 422, body: { code: 17 } }, { status: 422, body: 'Sorry.' })
    expect(await server.failure()).toMatchObject({ ...refused, body: { code: 17 } })
    expect(await server.failure()).toMatchObject(refused)
    const cut = streaming({ start: (controller) => controller.error(new Error('cut')) }, 422)
    expect(await server.failure({}, cut)).toMatchObject(refused)
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
    const [, faults, known, ofRead, ofChange] = row
    for (const fault of faults)
      for (const [request, attempts] of [
        [{}, ofRead],
        [change, ofChange],
      ] as const) {
        server.reset()
        server.faults.add({ ...fault, times: 2 })
        expect(await server.failure({ ...request, attempts: 2 })).toMatchObject(known)
        expect([server.calls.length, server.waits.length]).toEqual([attempts, attempts - 1])
      }
  })

  it('that the provider calls final is not retried', async () => {
    const error = new IntegrationError('provider_rejected', 'The quota of the month is used up.')
    server.faults.add({ status: 429, times: 2 })
    await expect(server.request({}, { readFailure: () => error })).rejects.toBe(error)
    expect(server.calls).toHaveLength(1)
  })

  it('of the host, which holds the call back, is its reason, and is not retried', async () => {
    const reason = new IntegrationError('delivery_in_progress', 'The claim is lost.')
    const fetch = vi.fn(() => Promise.reject(reason))
    await expect(server.request(change, { fetch })).rejects.toBe(reason)
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('waits before a retry at random below a bound that doubles up to two seconds', async () => {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5)
    server.faults.add({ status: 500, times: 9 })
    await server.failure({ attempts: 6 })
    random.mockRestore()
    expect(server.waits).toEqual([200, 400, 800, 1_000, 1_000])
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
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-11-22T09:00:00Z'))
    server.faults.add({ status: 429, headers: { 'retry-after': value }, times: 2 })
    const { retryAfter } = await server.failure({ attempts: 2 })
    clock.mockRestore()
    vi.unstubAllEnvs()
    expect(retryAfter).toBe(seconds)
    if (seconds !== undefined) expect(server.waits).toEqual([seconds * 1000])
  })

  // The second attempt of the change would be cut, in doubt.
  it.each([
    ['read', {}, 31, 1],
    ['read', {}, 29, 2],
    ['change', change, 29, 1],
  ] as const)('of a %s (%j) that may be repeated in %i of 30 s is final after %i', async (...row) => {
    const [, request, retryAfter, attempts] = row
    server.faults.add({ status: 429, headers: { 'retry-after': `${retryAfter}` }, times: 2 })
    const failure = await server.failure({ ...request, attempts: 2, timeoutMs: 30_000 })
    expect(failure).toMatchObject({ status: 429, retryAfter })
    expect(server.calls).toHaveLength(attempts)
  })
})

describe('the time limit', () => {
  const inProcess = { fetch: server.inProcess }

  it('ends one attempt of a read, and the next one may succeed', async () => {
    server.faults.add({ hang: true })
    expect(await inFakeTime(() => server.request({}, inProcess))).toEqual({ ok: true })
    expect(server.calls).toHaveLength(2)
  })

  it('ends all attempts at the deadline, and sends nothing after it', async () => {
    server.faults.add({ hang: true, times: 9 })
    const failure = await inFakeTime(() => server.failure({ timeoutMs: 5_000 }, inProcess))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown' })
    expect(await server.failure({ deadline: Date.now() })).toMatchObject({ kind: 'timeout', effect: 'none' })
    expect(server.calls).toHaveLength(1)
  })

  it('ends a change whose transport ignores the signal, with an unknown effect and no retry', async () => {
    const fetch = vi.fn(() => new Promise<never>(() => {}))
    const failure = await inFakeTime(() => server.failure({ ...change, timeoutMs: 60_000 }, { fetch }))
    expect(failure).toMatchObject({ kind: 'timeout', effect: 'unknown' })
    expect(fetch).toHaveBeenCalledOnce()
  })

  it('may be more than a timer can count', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    await server.request({ ...change, timeoutMs: Number.POSITIVE_INFINITY })
    expect(Math.max(...set.mock.calls.map(([, ms = 0]) => ms))).toBe(2 ** 31 - 1)
    set.mockRestore()
  })

  it('leaves no timer and no listener behind', async () => {
    const { signal } = new AbortController()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await server.request({ signal }, inProcess)
    expect([vi.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []])
    vi.useRealTimers()
  })
})

describe('the signal of the caller', () => {
  it.each([new Error('no interest'), new IntegrationError('overloaded', 'no interest')])(
    'ends a call during its request, in doubt and without a retry, with %o',
    async (cause) => {
      server.faults.add({ hang: true })
      const caller = new AbortController()
      const failure = server.failure({ signal: caller.signal })
      await expect.poll(() => server.calls.length).toBe(1)
      caller.abort(cause)
      expect(await failure).toMatchObject({ kind: 'aborted', effect: 'unknown', cause })
      expect([server.calls.length, server.waits.length]).toEqual([1, 0])
    },
  )

  it.each([
    ['aborted', AbortSignal.abort()],
    ['timeout', AbortSignal.abort(new DOMException('late', 'TimeoutError'))],
  ])('ends a call as “%s” before it begins', async (kind, signal) => {
    expect(await server.failure({ signal })).toMatchObject({ kind, effect: 'none' })
    expect(server.calls).toEqual([])
  })

  it.each([
    [429, 'none'],
    [503, 'unknown'],
  ])('ends the wait after %i, and the effect of its attempt counts: “%s”', async (status, effect) => {
    const caller = new AbortController()
    server.faults.add({ status, headers: { 'retry-after': '20' } })
    const failure = server.failure({ signal: caller.signal }, { wait: undefined })
    await expect.poll(() => server.calls[0]?.status).toBe(status)
    setTimeout(() => caller.abort())
    expect(await failure).toMatchObject({ kind: 'aborted', effect })
    expect(server.calls).toHaveLength(1)
  })
})
