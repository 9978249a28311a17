import { createEmulator, createFaults, createPlatformEmulator, type Fault, serve } from '@org/core/testing'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'

const faults = createFaults()
let effects = 0
const { fetch: inProcess, calls } = createEmulator({
  faults,
  handle: () => {
    effects += 1
    return Response.json({ answer: 'the whole truth' })
  },
  details: () => ({}),
})
const platform = createPlatformEmulator({ token: 'platform-token' })
const server = await serve(platform.fetch)
afterAll(() => server.close())
beforeEach(() => {
  effects = 0
  faults.clear()
  calls.length = 0
  platform.reset()
  platform.addDeployment({ id: 'dep_1', inputs: { serverType: 'shared' } })
})

describe('a fault', () => {
  const whole = JSON.stringify({ answer: 'the whole truth' })
  const post = (fault: Fault, signal: AbortSignal | null = null) => {
    faults.add(fault)
    return inProcess('http://emulator.test/things', { method: 'POST', body: 'x', signal })
  }

  it.each<[Fault, number, unknown, number]>([
    [{ status: 429, body: { code: 'slow_down' } }, 429, '{"code":"slow_down"}', 0],
    [{ status: 503, body: 'Down for lunch' }, 503, 'Down for lunch', 0],
    [{ status: 500, takesEffect: true }, 500, '', 1],
    [{ delayMs: 1 }, 200, whole, 1],
    [{ truncate: true }, 200, whole.slice(0, Math.ceil(whole.length / 2)), 1],
    [{ html: true, status: 403 }, 403, expect.stringMatching(/^<!doctype html>/), 0],
    [{ empty: true }, 200, '', 1],
  ])('%j is answered with %i %s once, after %i effects', async (fault, status, text, count) => {
    const response = await post(fault)
    expect([response.status, await response.text(), effects]).toEqual([status, text, count])
    expect((await inProcess('http://emulator.test/')).status).toBe(200)
    expect(calls).toMatchObject([
      { method: 'POST', path: '/things', status },
      { method: 'GET', path: '/', status: 200 },
    ])
  })

  it.each([
    ['before', 0],
    ['after', 1],
  ] as const)('cuts the connection %s the effect, as fetch reports it', async (cut, count) => {
    const failed = { name: 'TypeError', message: 'fetch failed', cause: expect.any(Error) }
    await expect(post({ cut })).rejects.toMatchObject(failed)
    expect([effects, calls.at(-1)?.status]).toEqual([count, undefined])
  })

  it.each([
    [{ hang: true }, 0],
    [{ hang: 'after' }, 1],
    [{ delayMs: 200 }, 1],
  ] as const)('%j leaves a client that gives up, after %i effects', async (fault, count) => {
    const client = new AbortController()
    const response = post(fault, client.signal)
    await expect.poll(() => calls.length, { interval: 1 }).toBe(1)
    client.abort(new Error('no more patience'))
    await expect(response).rejects.toThrow('no more patience')
    await expect.poll(() => effects).toBe(count)
  })

  it('meets requests by method, path, number and order', () => {
    const take = (method: string, path: string) =>
      Object(faults.take(new Request(`http://emulator.test${path}`, { method }))).status
    faults.add({ method: 'put', path: '/a', status: 500 }, { path: /\/b\/\d+$/g, status: 501, times: 2 })
    faults.add({ method: 'DELETE', status: 502, skip: 1 })
    expect([take('GET', '/a'), take('PUT', '/a/b'), take('PUT', '/a?x')]).toEqual([undefined, undefined, 500])
    expect([take('GET', '/b/12'), take('GET', '/b/12'), take('GET', '/b/12')]).toEqual([501, 501, undefined])
    expect(faults.pending()).toHaveLength(1)
    expect([take('DELETE', '/'), take('DELETE', '/'), take('DELETE', '/')]).toEqual([
      undefined,
      502,
      undefined,
    ])
  })
})

describe('the platform emulator', () => {
  const entry = { level: 'warn', message: 'No fromEmail.', timestamp: '2026-11-20T09:00:00Z' }
  const record = () => platform.deployments.get('dep_1')
  const call = (method: string, path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/deployments/${path}`, {
      method,
      headers: { authorization: 'Bearer platform-token', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })

  it.each([
    ['PUT', 'dep_1/other', {}, 404],
    ['PUT', 'dep_1/downloads', {}, 404],
    ['PUT', '%ff', {}, 404],
    ['POST', 'dep_1/status', {}, 405],
    ['PUT', 'dep_1/status', { authorization: 'Bearer other' }, 401],
    ['PUT', 'dep_1/status', { 'content-type': 'text/plain' }, 415],
    ['PUT', 'dep_1/status', { 'idempotency-key': '' }, 422],
  ])('refuses %s %s with the headers %j as %i', async (method, path, headers, status) => {
    const response = await call(method, path, { status: 'running' }, headers)
    const type = response.headers.get('content-type')
    expect([response.status, type]).toEqual([status, 'application/problem+json'])
    expect(record()?.statusHistory).toEqual([])
  })

  it.each([
    ['status', { status: 'running', extra: 1 }],
    ['outputs', { outputs: {}, sensitive: ['token'] }],
  ])('refuses a body of %s that the contract does not know: %j', async (path, body) => {
    expect((await call('PUT', `dep_1/${path}`, body)).status).toBe(422)
  })

  it('accepts a write once for each idempotency key and path, also if its response got lost', async () => {
    platform.addDeployment({ id: 'dep_2' })
    const key = { 'idempotency-key': 'evt_1:logs' }
    const log = (entries: object[], id = 'dep_1') => call('POST', `${id}/logs`, { entries }, key)
    expect((await log([])).status).toBe(422)
    platform.faults.add({ path: /logs$/, cut: 'after' })
    await expect(log([entry])).rejects.toThrow('fetch failed')
    const again = await log([entry])
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect((await log([{ ...entry, message: 'y' }])).status).toBe(422)
    expect((await log([entry], 'dep_2')).headers.has('idempotency-replayed')).toBe(false)
    expect([record()?.logs, platform.deployments.get('dep_2')?.logs]).toEqual([[entry], [entry]])
    const recorded = { method: 'POST', path: '/deployments/dep_1/logs', idempotencyKey: 'evt_1:logs' }
    expect(platform.calls[1]).toMatchObject({ ...recorded, status: undefined, body: { entries: [entry] } })
  })

  it('remembers the newest 10,000 calls, and forgets everything at a reset', async () => {
    for (let index = 0; index < 10_001; index += 1) await platform.fetch(`http://platform.test/?${index}`)
    expect([platform.calls.length, platform.calls[0]?.path]).toEqual([10_000, '/?1'])
    platform.faults.add({ hang: true })
    platform.reset()
    expect([platform.deployments.size, platform.calls.length, platform.faults.pending()]).toEqual([0, 0, []])
  })
})

describe('a served handler', () => {
  it('gets the request as it was sent, and its response arrives whole', async () => {
    const own = await serve(async (request) => {
      const { pathname, search } = new URL(request.url)
      const body = [request.method, pathname + search, request.headers.get('x-name'), await request.text()]
      const headers = new Headers([['set-cookie', 'a=1'] as [string, string], ['set-cookie', 'b=2']])
      return Response.json(body, { status: 201, headers })
    })
    const init = { method: 'PUT', headers: { 'x-name': 'value' }, body: 'héllo' }
    const response = await fetch(`${own.url}/a/b?c=d`, init)
    expect([response.status, response.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']])
    expect(await response.json()).toEqual(['PUT', '/a/b?c=d', 'value', 'héllo'])
    expect(await (await fetch(own.url, { method: 'HEAD' })).text()).toBe('')
    await own.close()
  })

  it('sees its signal abort when the client leaves, and frees its port at close', async () => {
    const client = new AbortController()
    const left = Promise.withResolvers<unknown>()
    let requests = 0
    const first = await serve(({ signal }) => {
      requests += 1
      signal.addEventListener('abort', () => left.resolve(signal.reason))
      client.abort()
      return new Promise(() => {})
    })
    await expect(fetch(first.url, { signal: client.signal })).rejects.toThrow()
    await expect(left.promise).resolves.toMatchObject({ name: 'AbortError' })
    await expect(serve(inProcess, { port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const waiting = fetch(first.url).catch((reason: unknown) => reason)
    await expect.poll(() => requests).toBe(2)
    await first.close()
    expect(await waiting).toBeInstanceOf(TypeError)
    const second = await serve(async () => new Response('new'), { port: first.port })
    expect(await (await fetch(first.url)).text()).toBe('new')
    await second.close()
  })
})
