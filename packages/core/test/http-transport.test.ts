import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createHttpClient } from '../src/http/client.ts'
import { startServer } from './http-server.ts'

let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(() => server.reset())

describe('a fetch that is passed in', () => {
  it('gets the address, and what is sent', async () => {
    const seen: unknown[] = []
    const request = createHttpClient({
      baseUrl: 'https://api.example.com/v1',
      headers: { 'x-token': 'secret' },
      async fetch(input, init) {
        const { method, url, redirect, headers } = new Request(input, init)
        seen.push({ method, url, redirect, token: headers.get('x-token'), body: init?.body })
        return Response.json({})
      },
    })
    await request({ method: 'POST', path: '/things', query: { page: 2 }, json: { a: 1 } })
    expect(seen).toEqual([
      {
        method: 'POST',
        url: 'https://api.example.com/v1/things?page=2',
        redirect: 'manual',
        token: 'secret',
        body: '{"a":1}',
      },
    ])
  })

  it.each([
    { who: 'the caller', options: { timeoutMs: 60_000 }, reason: 'no more interest', kind: 'aborted' },
    { who: 'the time', options: { timeoutMs: 1 }, reason: 'The time is over.', kind: 'timeout' },
  ])('is told when $who ends the call', async ({ who, options, reason, kind }) => {
    const caller = new AbortController()
    const reasons: unknown[] = []
    const request = createHttpClient({
      baseUrl: 'https://api.example.com',
      attempts: 1,
      fetch: (input, init) => {
        const { signal } = new Request(input, init)
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
          if (who === 'the caller') caller.abort(new Error('no more interest'))
        })
      },
      ...options,
    })
    const failure = request({ method: 'GET', path: '/', signal: caller.signal })
    await expect(failure).rejects.toMatchObject({ kind })
    expect(reasons).toMatchObject([{ message: reason }])
  })
})

describe('a time limit', () => {
  it('beyond what a timer can count to is no limit, and no failure', async () => {
    const endless = { deadline: Number.POSITIVE_INFINITY }
    const answer = await server.request(endless, { timeoutMs: Number.POSITIVE_INFINITY })
    expect(answer.status).toBe(200)
    server.faults.add({ status: 503, headers: { 'retry-after': '0' } })
    expect((await server.request(endless, { timeoutMs: 2 ** 40 })).status).toBe(200)
  })

  it('leaves no timer and no listener behind', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    const cleared = vi.spyOn(globalThis, 'clearTimeout')
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    await server.request({ signal }, { timeoutMs: 12_345 })
    const timers = set.mock.results.filter((_, at) => set.mock.calls[at]?.[1] === 12_345)
    expect(timers).toHaveLength(1)
    expect(cleared.mock.calls.map(([timer]) => timer)).toContain(timers[0]?.value)
    expect(removed.mock.calls).toEqual(added.mock.calls)
    vi.restoreAllMocks()
  })
})
