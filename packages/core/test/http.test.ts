import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { serve } from '../src/testing/index.ts'
import { startServer } from './http-server.ts'

let server: Awaited<ReturnType<typeof startServer>>

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())
beforeEach(() => server.reset())

describe('a request', () => {
  it('resolves with the status, the headers and the parsed body', async () => {
    const { status, headers, body } = await server.request()
    expect([status, headers.get('x-request'), body]).toEqual([200, '7', { ok: true }])
  })

  it('carries the headers of the client and its own, which win', async () => {
    const options = { headers: { 'x-token': 'of the client', 'x-client': 'yes' } }
    await server.request({ headers: { 'x-token': 'its own' } }, options)
    expect(Object.fromEntries(server.calls[0]?.headers ?? [])).toMatchObject({
      accept: 'application/json',
      'x-client': 'yes',
      'x-token': 'its own',
    })
  })

  it('sends a value as JSON, and a composed text as it is', async () => {
    await server.request({ method: 'POST', json: { to: 'Ada', none: undefined } })
    await server.request({ method: 'POST', jsonText: '{ "to":  "Bob" }' })
    expect(server.received.map(({ text }) => text)).toEqual(['{"to":"Ada"}', '{ "to":  "Bob" }'])
    const types = server.calls.map(({ headers }) => headers.get('content-type'))
    expect(types).toEqual(['application/json', 'application/json'])
  })

  it.each([
    { base: '', path: '/things', target: '/things' },
    { base: '/', path: '/things', target: '/things' },
    { base: '/api/v1', path: '/things', target: '/api/v1/things' },
    { base: '/api/v1/', path: '/things/a%2Fb', target: '/api/v1/things/a%2Fb' },
    { base: '/api/v1', path: '//evil.test/x', target: '/api/v1/evil.test/x' },
    { base: '', path: '/http://evil.test/x', target: '/http://evil.test/x' },
  ])('goes below the base URL “$base”: $path to $target', async ({ base, path, target }) => {
    await server.request({ path }, { baseUrl: server.url + base })
    expect(server.received[0]?.target).toBe(target)
  })

  it('encodes its query, repeats lists, and leaves out what is absent', async () => {
    const query = { q: 'a&b=c d+é', ids: ['1', '2'], limit: 5, all: false, none: undefined, empty: [] }
    await server.request({ path: '/find', query })
    const target = server.received[0]?.target ?? ''
    expect(target).toMatch(/^\/find\?/)
    expect([...new URL(target, server.url).searchParams]).toEqual([
      ['q', 'a&b=c d+é'],
      ['ids', '1'],
      ['ids', '2'],
      ['limit', '5'],
      ['all', 'false'],
    ])
  })

  it('without a query has no question mark', async () => {
    await server.request({ path: '/find' })
    expect(server.received[0]?.target).toBe('/find')
  })

  it('takes an empty success for no body', async () => {
    server.faults.add({ status: 204 }, { empty: true })
    expect(await server.request({ method: 'DELETE' })).toMatchObject({ status: 204, body: undefined })
    expect(await server.request()).toMatchObject({ status: 200, body: undefined })
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %i is not followed, and nothing is sent to where it leads',
    async (status) => {
      const other = await startServer()
      server.faults.add({ status, headers: { location: `${other.url}/stolen` } })
      const failure = await server.failure({}, { headers: { 'x-token': 'secret' } })
      expect(failure).toMatchObject({ kind: 'status', status, sent: 'no' })
      expect(other.received).toEqual([])
      expect(server.received).toHaveLength(1)
      await other.close()
    },
  )
})

describe('an answer', () => {
  it('of exactly the longest length is taken; one byte more is too_large', async () => {
    const body = JSON.stringify('x'.repeat(998))
    server.faults.add({ status: 200, body, times: 2 })
    expect((await server.request({ maxBytes: 1000 })).body).toHaveLength(998)
    const failure = await server.failure({ maxBytes: 999 })
    expect(failure).toMatchObject({ kind: 'too_large', status: 200, sent: 'unknown' })
    expect(server.received).toHaveLength(2)
  })

  it('is measured after decompression', async () => {
    const bomb = gzipSync(JSON.stringify('x'.repeat(2 * 1024 * 1024)))
    expect(bomb.byteLength).toBeLessThan(5_000)
    const zipped = await serve(
      async () =>
        new Response(bomb, { headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' } }),
    )
    expect(await server.failure({}, { baseUrl: zipped.url })).toMatchObject({ kind: 'too_large' })
    await zipped.close()
  })

  it('that never ends is cut off at the limit', async () => {
    let chunks = 0
    const endless = await serve(
      async () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              chunks += 1
              controller.enqueue(new Uint8Array(64 * 1024))
            },
          }),
        ),
    )
    expect(await server.failure({}, { baseUrl: endless.url })).toMatchObject({ kind: 'too_large' })
    await endless.close()
    expect(chunks).toBeLessThan(500)
  })

  it.each([
    { what: 'cut off', fault: { truncate: true } },
    { what: 'an HTML page', fault: { html: true } },
    { what: 'broken off', fault: { cut: 'during' } },
  ] as const)('of success that is $what is malformed, and may have had its effect', async ({ fault }) => {
    server.faults.add(fault)
    const failure = await server.failure({ method: 'POST' })
    expect(failure).toMatchObject({ kind: 'malformed', status: 200, sent: 'unknown', body: undefined })
  })

  it('of failure carries its parsed body, where it is JSON', async () => {
    server.faults.add(
      { status: 422, body: { code: 17 } },
      { status: 422, body: 'Sorry.' },
      { html: true, status: 403 },
    )
    const failures = [await server.failure(), await server.failure(), await server.failure()]
    expect(failures.map(({ status, body }) => [status, body])).toEqual([
      [422, { code: 17 }],
      [422, undefined],
      [403, undefined],
    ])
    expect(failures.map(({ kind, sent }) => `${kind} ${sent}`)).toEqual(Array(3).fill('status no'))
  })

  it('never shows in the message of a failure, nor does what was sent', async () => {
    server.faults.add({ status: 500, body: { echo: 'canary' } })
    const failure = await server.failure({ method: 'POST', path: '/canary', json: { canary: true } })
    expect(`${failure}`).not.toContain('canary')
  })
})
