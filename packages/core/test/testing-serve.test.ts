import { afterEach, expect, it } from 'vitest'
import { type Served, type ServeOptions, serve } from '../src/testing/index.ts'

const servers: Served[] = []

async function start(
  handler: (request: Request) => Promise<Response>,
  options?: ServeOptions,
): Promise<Served> {
  const server = await serve(handler, options)
  servers.push(server)
  return server
}

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

it('hands over method, URL, headers and body, and the answer back', async () => {
  const { url } = await start(async (request) => {
    const { pathname, search } = new URL(request.url)
    const body = await request.text()
    return Response.json([request.method, pathname + search, request.headers.get('x-name'), body], {
      status: 201,
      headers: [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
      ],
    })
  })
  const answer = await fetch(`${url}/a/b?c=d`, {
    method: 'PUT',
    headers: { 'x-name': 'value' },
    body: 'héllo',
  })
  expect(answer.status).toBe(201)
  expect(answer.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await answer.json()).toEqual(['PUT', '/a/b?c=d', 'value', 'héllo'])
})

it('streams the answer', async () => {
  let more: () => void = () => {}
  const wanted = new Promise<void>((resolve) => {
    more = resolve
  })
  const { url } = await start(async () => {
    const encoder = new TextEncoder()
    async function* parts() {
      yield encoder.encode('first ')
      await wanted
      yield encoder.encode('second')
    }
    const chunks = parts()
    return new Response(
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          const { done, value } = await chunks.next()
          if (done) controller.close()
          else controller.enqueue(value)
        },
      }),
    )
  })
  const answer = await fetch(url)
  let text = ''
  for await (const chunk of answer.body ?? []) {
    text += new TextDecoder().decode(chunk)
    more()
  }
  expect(text).toBe('first second')
})

it('answers 500 where the handler fails', async () => {
  const { url } = await start(async () => {
    throw new Error('out of order')
  })
  const answer = await fetch(url)
  expect(answer.status).toBe(500)
  expect(await answer.text()).toBe('The handler failed: out of order')
})

it('aborts the request’s signal when the client goes away', async () => {
  const client = new AbortController()
  let left: (reason: unknown) => void = () => {}
  const leaving = new Promise((resolve) => {
    left = resolve
  })
  const { url } = await start(async ({ signal }) => {
    client.abort()
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        left(signal.reason)
        reject(signal.reason)
      })
    })
  })
  await expect(fetch(url, { signal: client.signal })).rejects.toThrow()
  await expect(leaving).resolves.toMatchObject({ name: 'AbortError' })
})

it('answers HEAD without a body', async () => {
  const { url } = await start(async () => new Response('text', { headers: { 'x-kind': 'text' } }))
  const answer = await fetch(url, { method: 'HEAD' })
  expect(answer.headers.get('x-kind')).toBe('text')
  expect(await answer.text()).toBe('')
})

it('ends waiting connections at once when it is closed, and frees the port', async () => {
  let arrived: () => void = () => {}
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const first = await start(() => {
    arrived()
    return new Promise(() => {})
  })
  const waiting = fetch(first.url).catch((reason: unknown) => reason)
  await arrival
  await first.close()
  expect(await waiting).toBeInstanceOf(TypeError)

  const second = await start(async () => new Response('new'), { port: first.port })
  expect(second.url).toBe(`http://127.0.0.1:${first.port}`)
  expect(await (await fetch(second.url)).text()).toBe('new')
})

it('says so where the port is taken', async () => {
  const { port } = await start(async () => new Response('mine'))
  await expect(serve(async () => new Response('too late'), { port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
