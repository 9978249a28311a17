import { createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, type HttpRequest } from '../src/http/client.ts'
import type { Fault } from '../src/testing/index.ts'
import { startServer } from './http-server.ts'

let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(() => server.reset())

/** The URL of a port at which nobody listens. */
async function closedPort(): Promise<string> {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const address = listener.address()
  await new Promise((resolve) => listener.close(resolve))
  return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
}

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

describe('which failures are repeated', () => {
  const always: [string, Fault][] = [['429', { status: 429 }]]
  const ifHarmless: [string, Fault][] = [
    ...[408, 500, 502, 503, 504].map((status): [string, Fault] => [`${status}`, { status }]),
    ['a connection cut before the effect', { cut: 'before' }],
    ['a connection cut after the effect', { cut: 'after' }],
    ['a connection cut during the answer', { cut: 'during' }],
    ['a success cut off', { truncate: true }],
    ['a success that is HTML', { html: true }],
  ]
  const never: [string, Fault][] = [
    ...[400, 401, 403, 404, 405, 409, 410, 413, 422, 501, 505].map((status): [string, Fault] => [
      `${status}`,
      { status },
    ]),
    ['an HTML page with 403', { html: true, status: 403 }],
  ]
  const cases = (names: string[], faults: [string, Fault][]) =>
    names.flatMap((name) => faults.map(([what, fault]) => ({ name, what, fault })))

  it.each([...cases(harmless, [...always, ...ifHarmless]), ...cases(risky, always)])(
    '$name is repeated after $what',
    async ({ name, fault }) => {
      server.faults.add(fault)
      expect((await server.request(requests[name])).body).toEqual({ ok: true })
      expect(server.received).toHaveLength(2)
      expect(server.waits).toHaveLength(1)
    },
  )

  it.each([...cases(risky, [...ifHarmless, ...never]), ...cases(harmless, never)])(
    '$name is not repeated after $what',
    async ({ name, fault }) => {
      server.faults.add(fault)
      await server.failure(requests[name])
      expect(server.received).toHaveLength(1)
      expect(server.waits).toEqual([])
    },
  )

  it('each is repeated up to the number of attempts, and the last failure is thrown', async () => {
    server.faults.add({ status: 500, times: 2 }, { status: 503, times: 8 })
    expect(await server.failure({}, { attempts: 3 })).toMatchObject({ status: 503 })
    expect(server.received).toHaveLength(3)
    server.reset()
    server.faults.add({ status: 500 })
    await server.failure({}, { attempts: 1 })
    expect(server.received).toHaveLength(1)
  })
})

describe('whether a request took effect', () => {
  it.each([
    { what: 'a refusal', fault: { status: 422 }, sent: 'no' },
    { what: 'a rate limit', fault: { status: 429, times: 9 }, sent: 'no' },
    { what: 'a time-out at a proxy', fault: { status: 408 }, sent: 'unknown' },
    { what: 'a failure', fault: { status: 500 }, sent: 'unknown' },
    { what: 'a cut before it', fault: { cut: 'before' }, sent: 'unknown' },
    { what: 'a cut after it', fault: { cut: 'after' }, sent: 'unknown' },
  ] as const)('is “$sent” after $what', async ({ fault, sent }) => {
    server.faults.add(fault)
    expect(await server.failure({ method: 'POST', json: {} })).toMatchObject({ sent })
  })

  it('is “no” where nobody listens, and so even a POST is repeated', async () => {
    const failure = await server.failure({ method: 'POST', json: {} }, { baseUrl: await closedPort() })
    expect(failure).toMatchObject({ kind: 'connection', sent: 'no', status: undefined })
    expect(server.waits).toHaveLength(2)
  })

  it('is “no” where the name of the host does not exist', async () => {
    const failure = await server.failure({ method: 'POST', json: {} }, { baseUrl: 'http://nowhere.invalid' })
    expect(failure).toMatchObject({ kind: 'connection', sent: 'no' })
  })
})

describe('the wait between two tries', () => {
  it('is random below a bound that doubles, and never above two seconds', async () => {
    server.faults.add({ status: 500, times: 9 })
    await server.failure({}, { attempts: 9 })
    const bounds = [400, 800, 1_600, 2_000, 2_000, 2_000, 2_000, 2_000]
    expect(server.waits).toHaveLength(bounds.length)
    server.waits.forEach((wait, index) => {
      expect(wait).toBeGreaterThanOrEqual(0)
      expect(wait).toBeLessThanOrEqual(bounds[index] ?? 0)
    })
    expect(new Set(server.waits).size).toBeGreaterThan(1)
  })

  it('is what Retry-After says, in seconds', async () => {
    server.faults.add(
      { status: 429, headers: { 'retry-after': '7' } },
      { status: 503, headers: { 'retry-after': '0' } },
    )
    await server.request()
    expect(server.waits).toEqual([7_000, 0])
  })

  it('is what Retry-After says, as a date', async () => {
    const inTenSeconds = new Date(Date.now() + 10_000).toUTCString()
    const longAgo = 'Wed, 21 Oct 2015 07:28:00 GMT'
    server.faults.add(
      { status: 429, headers: { 'retry-after': inTenSeconds } },
      { status: 429, headers: { 'retry-after': longAgo } },
    )
    await server.request()
    expect(server.waits[0]).toBeGreaterThanOrEqual(5_000)
    expect(server.waits[0]).toBeLessThanOrEqual(10_000)
    expect(server.waits[1]).toBe(0)
  })

  it.each(['soon', '-3', '1.5e3x', ''])('is its own where Retry-After is “%s”', async (value) => {
    server.faults.add({ status: 429, headers: { 'retry-after': value } })
    await server.request()
    expect(server.waits[0]).toBeLessThanOrEqual(400)
  })

  it('does not begin where it would end after the deadline: the call fails at once, and passes Retry-After on', async () => {
    server.faults.add({ status: 429, headers: { 'retry-after': '31' } })
    const failure = await server.failure({ deadline: Date.now() + 30_000 })
    expect(failure).toMatchObject({ kind: 'status', status: 429, retryAfter: 31 })
    expect(server.waits).toEqual([])
    expect(server.received).toHaveLength(1)
  })
})

describe('time', () => {
  it('ends one try, and the next one may succeed', async () => {
    server.faults.add({ hang: true })
    expect((await server.request({}, { timeoutMs: 50 })).body).toEqual({ ok: true })
    expect(server.received).toHaveLength(2)
  })

  it('ends a POST for good, which may have taken effect', async () => {
    server.faults.add({ hang: 'after' })
    const failure = await server.failure({ method: 'POST' }, { timeoutMs: 50 })
    expect(failure).toMatchObject({ kind: 'timeout', sent: 'unknown', status: undefined })
    expect(server.received).toHaveLength(1)
  })

  it('ends all tries at the deadline', async () => {
    server.faults.add({ hang: true, times: 9 })
    const failure = await server.failure({ deadline: Date.now() + 50 }, { timeoutMs: 10_000 })
    expect(failure).toMatchObject({ kind: 'timeout' })
    expect(server.received).toHaveLength(1)
  })

  it('that is over before the call began sends nothing', async () => {
    const failure = await server.failure({ deadline: Date.now() - 1 })
    expect(failure).toMatchObject({ kind: 'timeout', sent: 'no' })
    expect(server.received).toEqual([])
  })
})

describe('the caller', () => {
  it('can end a call that is under way, which is not repeated', async () => {
    server.faults.add({ hang: true })
    const caller = new AbortController()
    server.onArrival(() => caller.abort(new Error('no more interest')))
    const failure = await server.failure({ signal: caller.signal })
    expect(failure).toMatchObject({
      kind: 'aborted',
      sent: 'unknown',
      cause: { message: 'no more interest' },
    })
    expect(server.waits).toEqual([])
    expect(server.received).toHaveLength(1)
  })

  it('can end a call before it begins', async () => {
    const failure = await server.failure({ signal: AbortSignal.abort() })
    expect(failure).toMatchObject({ kind: 'aborted', sent: 'no' })
    expect(server.received).toEqual([])
  })

  it.each([
    { when: 'between two tries', end: (abort: () => void) => void setTimeout(abort) },
    { when: 'that was about to begin', end: (abort: () => void) => abort() },
  ])('can end the wait $when', async ({ end }) => {
    const caller = new AbortController()
    const request = createHttpClient({
      baseUrl: server.url,
      async fetch() {
        end(() => caller.abort())
        return new Response(null, { status: 429, headers: { 'retry-after': '20' } })
      },
    })
    const failure = request({ method: 'GET', path: '/', signal: caller.signal })
    await expect(failure).rejects.toMatchObject({ kind: 'aborted', sent: 'no' })
  })

  it('whose own time is up gets a time-out, not an abort', async () => {
    const signal = AbortSignal.abort(new DOMException('late', 'TimeoutError'))
    expect(await server.failure({ signal })).toMatchObject({ kind: 'timeout', sent: 'no' })
  })
})
