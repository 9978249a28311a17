import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  ConnectionCut,
  createEmulator,
  createFaults,
  type Fault,
  type Served,
  serve,
} from '../src/testing/index.ts'

const faults = createFaults()
let effects: string[] = []
let arrival: () => void = () => {}
let effect: () => void = () => {}
const { fetch: inProcess, calls } = createEmulator({
  faults,
  handle: ({ method, text }) => {
    effects.push(`${method} ${text}`)
    effect()
    return Response.json({ answer: 'the whole truth' }, { headers: { 'x-real': 'yes' } })
  },
  details: () => {
    arrival()
    return {}
  },
})

let server: Served

beforeEach(async () => {
  effects = []
  arrival = () => {}
  effect = () => {}
  faults.clear()
  calls.length = 0
  server = await serve(inProcess)
})

afterEach(() => server.close())

describe.each([
  { way: 'over HTTP', call: (path: string, init?: RequestInit) => fetch(server.url + path, init) },
  {
    way: 'in process',
    call: (path: string, init?: RequestInit) => inProcess(`http://emulator.invalid${path}`, init),
  },
])('a fault $way', ({ call }) => {
  const post = (fault?: Fault, init: RequestInit = {}) => {
    if (fault) faults.add(fault)
    return call('/things', { method: 'POST', body: 'x', ...init })
  }

  it('befalls one request, and the next gets the real answer', async () => {
    expect((await post({ status: 500 })).status).toBe(500)
    const answer = await post()
    expect(await answer.json()).toEqual({ answer: 'the whole truth' })
    expect(effects).toEqual(['POST x'])
    expect(calls.map(({ method, path, status }) => ({ method, path, status }))).toEqual([
      { method: 'POST', path: '/things', status: 500 },
      { method: 'POST', path: '/things', status: 200 },
    ])
  })

  it('answers with a status, headers and a JSON body', async () => {
    const answer = await post({ status: 429, headers: { 'retry-after': '7' }, body: { code: 'slow_down' } })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('7')
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(await answer.json()).toEqual({ code: 'slow_down' })
    expect(effects).toEqual([])
  })

  it('answers with a string as it is', async () => {
    const answer = await post({ status: 503, body: 'Down for lunch' })
    expect(await answer.text()).toBe('Down for lunch')
  })

  it('can answer with a failure although the request took effect', async () => {
    expect((await post({ status: 500, takesEffect: true })).status).toBe(500)
    expect(effects).toEqual(['POST x'])
  })

  it('delays the real answer', async () => {
    expect(await (await post({ delayMs: 1 })).json()).toEqual({ answer: 'the whole truth' })
  })

  it('does delayed work although the client has given up', async () => {
    const done = new Promise<void>((resolve) => {
      effect = resolve
    })
    const client = new AbortController()
    arrival = () => client.abort(new Error('no more patience'))
    await expect(post({ delayMs: 1 }, { signal: client.signal })).rejects.toThrow('no more patience')
    await done
    expect(effects).toEqual(['POST x'])
  })

  it('hangs without effect until the client gives up', async () => {
    const client = new AbortController()
    arrival = () => client.abort(new Error('no more patience'))
    await expect(post({ hang: true }, { signal: client.signal })).rejects.toThrow('no more patience')
    expect(effects).toEqual([])
  })

  it('hangs after the request took effect', async () => {
    const client = new AbortController()
    effect = () => client.abort(new Error('no more patience'))
    await expect(post({ hang: 'after' }, { signal: client.signal })).rejects.toThrow('no more patience')
    expect(effects).toEqual(['POST x'])
  })

  it.each([
    { cut: 'before', expected: [] },
    { cut: 'after', expected: ['POST x'] },
  ] as const)('cuts the connection $cut the request took effect', async ({ cut, expected }) => {
    const error = await post({ cut }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject({ name: 'TypeError', message: 'fetch failed', cause: expect.any(Error) })
    expect(effects).toEqual(expected)
    expect(calls.at(-1)?.status).toBeUndefined()
  })

  it('cuts the connection during the answer', async () => {
    const outcome = post({ cut: 'during' }).then((answer) => answer.text())
    await expect(outcome).rejects.toBeInstanceOf(TypeError)
    expect(effects).toEqual(['POST x'])
  })

  it('cuts the text of the real answer off half way', async () => {
    const answer = await post({ truncate: true })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-real')).toBe('yes')
    const text = await answer.text()
    const whole = JSON.stringify({ answer: 'the whole truth' })
    expect(text).toBe(whole.slice(0, Math.ceil(whole.length / 2)))
    expect(effects).toEqual(['POST x'])
  })

  it('answers with an HTML page', async () => {
    const page = await post({ html: true })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(await page.text()).toMatch(/^<!doctype html>/)
    expect((await post({ html: true, status: 403 })).status).toBe(403)
    expect(effects).toEqual([])
  })

  it('answers with the real status and nothing else', async () => {
    const answer = await post({ empty: true })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe('')
    expect(effects).toEqual(['POST x'])
  })
})

it('looks in process like the error of Node’s fetch', async () => {
  faults.add({ cut: 'before' })
  const error = await inProcess('http://emulator.invalid/').catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(ConnectionCut)
  expect(error).toMatchObject({ message: 'fetch failed', cause: { code: 'ECONNRESET' } })
})

it('refuses at once in process where the signal is aborted already', async () => {
  const signal = AbortSignal.abort(new Error('never mind'))
  await expect(inProcess('http://emulator.invalid/', { signal })).rejects.toThrow('never mind')
  expect(effects).toEqual([])
})

describe('a list of faults', () => {
  const request = (method: string, path: string) => new Request(`http://emulator.invalid${path}`, { method })

  it('chooses by method and path', () => {
    const list = createFaults()
    list.add({ method: 'put', path: '/a', status: 500 }, { path: /\/b\/\d+$/g, status: 501 })
    expect(list.take(request('GET', '/a'))).toBeUndefined()
    expect(list.take(request('PUT', '/a/b'))).toBeUndefined()
    expect(list.take(request('PUT', '/a?query'))).toMatchObject({ status: 500 })
    expect(list.take(request('GET', '/b/12'))).toMatchObject({ status: 501 })
    expect(list.pending()).toEqual([])
  })

  it('counts how often, and in which order', () => {
    const list = createFaults()
    list.add({ times: 2, status: 429 }, { status: 503 })
    const statuses = [1, 2, 3].map(() => list.take(request('GET', '/')))
    expect(statuses).toMatchObject([{ status: 429 }, { status: 429 }, { status: 503 }])
    expect(list.take(request('GET', '/'))).toBeUndefined()
  })

  it('lets the first requests pass where it is asked to', () => {
    const list = createFaults()
    list.add({ skip: 2, status: 500 })
    expect([1, 2, 3, 4].map(() => list.take(request('GET', '/'))?.skip)).toEqual([
      undefined,
      undefined,
      2,
      undefined,
    ])
  })

  it('can be cleared', () => {
    const list = createFaults()
    list.add({ times: Number.POSITIVE_INFINITY, hang: true })
    expect(list.pending()).toHaveLength(1)
    list.clear()
    expect(list.take(request('GET', '/'))).toBeUndefined()
  })
})
