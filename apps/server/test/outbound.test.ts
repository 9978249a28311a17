import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { IntegrationError } from '@org/core'
import type { OutboundInit } from '@org/core/internal'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createOutbound } from '../src/outbound.ts'
import { createNodeRuntime } from '../src/runtimes/node-runtime.ts'

/** A provider over HTTP, and the `fetch` of an integration that calls it. */
async function startProvider(listener: RequestListener) {
  const requests: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method, headers: request.headers, body })
    listener(request, response)
  })
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const lines: string[] = []
  const outbound = createOutbound({
    ...createNodeRuntime({ production: false, egressAllow: [] }),
    logger: (_, message) => lines.push(message),
  })
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/things?page=2`,
    send: outbound.provider('mailer').fetch,
    outbound,
    requests,
    lines,
    connections: () => connections,
  }
}

describe('a call to a provider', () => {
  it.each<[string, (url: string, init: RequestInit) => Parameters<typeof fetch>]>([
    ['a string', (url, init) => [url, init]],
    ['a URL', (url, init) => [new URL(url), init]],
    ['a Request', (url, init) => [new Request(url, init)]],
    [
      'a native Request where the HTTP server replaced the global class',
      (url, init) => {
        const request = new Request(url, init)
        vi.stubGlobal('Request', class {})
        onTestFinished(() => void vi.unstubAllGlobals())
        return [request]
      },
    ],
  ])('may be made with %s', async (_, given) => {
    const { url, send, requests } = await startProvider((_, response) => {
      response.writeHead(201, { 'x-many': ['a', 'b'] }).end('{"id":1}')
    })
    const headers = { 'content-type': 'application/json', 'x-token': 't' }
    const response = await send(...given(url, { method: 'POST', headers, body: '{"a":"ü"}' }))
    expect(response.status).toBe(201)
    expect(response.headers.get('x-many')).toBe('a, b')
    expect(await response.json()).toEqual({ id: 1 })
    expect(requests).toMatchObject([{ method: 'POST', headers, body: '{"a":"ü"}' }])
    expect(requests[0]?.headers['user-agent']).toBe('integration-host')
  })

  it('writes nothing when the lease is lost while the connection opens', async () => {
    const { url, send, requests } = await startProvider((_, response) => response.end())
    let connected = false
    const onConnected = () => {
      connected = true
    }
    subscribe('undici:client:connected', onConnected)
    onTestFinished(() => void unsubscribe('undici:client:connected', onConnected))
    const refusal = new Error('The lease is lost.')
    const init: OutboundInit = {
      method: 'POST',
      body: '{}',
      beforeSend() {
        expect(connected).toBe(true)
        throw refusal
      },
    }
    await expect(send(url, init)).rejects.toBe(refusal)
    expect(requests).toEqual([])
  })

  it('follows no redirect', async () => {
    const { url, send, requests } = await startProvider((_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await send(url)).status).toBe(302)
    expect(requests).toHaveLength(1)
  })

  it('reads a response without a body, and one that is compressed although nobody asked', async () => {
    const { url, send } = await startProvider((request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end()
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":2}'))
    })
    expect((await send(url, { method: 'DELETE' })).body).toBeNull()
    expect(await (await send(url)).json()).toEqual({ id: 2 })
  })

  it('streams a long response, and stops when the reader cancels', async () => {
    const { url, send } = await startProvider((_, response) => response.end('x'.repeat(5_000_000)))
    expect(await (await send(url)).text()).toHaveLength(5_000_000)
    const { body } = await send(url)
    const reader = body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
    await reader?.cancel()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })

  it.each([
    { when: 'before it is sent', during: false },
    { when: 'while it waits for the response', during: true },
  ])('ends by its signal $when', async ({ during }) => {
    const controller = new AbortController()
    const reason = new Error('no more interest')
    const { url, send, requests } = await startProvider(() => controller.abort(reason))
    if (!during) controller.abort(reason)
    await expect(send(url, { signal: controller.signal })).rejects.toBe(reason)
    expect(requests).toHaveLength(during ? 1 : 0)
  })

  it('rejects when the connection breaks, before a response and in the middle of one', async () => {
    const { url, send } = await startProvider((request, response) => {
      if (request.method === 'POST') return void response.socket?.destroy()
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"half":', () => response.socket?.destroy())
    })
    await expect(send(url, { method: 'POST' })).rejects.toThrow()
    await expect(send(url).then((response) => response.text())).rejects.toThrow()
    await expect(send('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('rejects when the status is above 599, which no Response can hold', async () => {
    const { url, send } = await startProvider((_, response) => response.writeHead(600).end('odd'))
    await expect(send(url)).rejects.toThrow('The server answered with the status 600.')
  })

  it('waits for the response that follows early hints', async () => {
    const { url, send } = await startProvider((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('{"id":1}'))
    })
    expect(await (await send(url)).json()).toEqual({ id: 1 })
  })

  it('opens a new connection for each write, and keeps one for reads', async () => {
    const { url, send, connections } = await startProvider((_, response) => response.end('{}'))
    for (const _ of [1, 2, 3]) await (await send(url, { method: 'POST', body: '{}' })).text()
    expect(connections()).toBe(3)
    for (let read = 0; read < 20; read += 1) await (await send(url)).text()
    expect(connections()).toBeLessThan(3 + 20)
  })
})

describe('the circuit of a provider', () => {
  const callOften = async (call: () => Promise<unknown>) => {
    for (let made = 0; made < 30; made += 1) await call().catch(() => {})
  }

  it('opens for the origin that fails, for its integration alone', async () => {
    const { url, send, outbound, requests, lines } = await startProvider((_, response) =>
      response.writeHead(500).end(),
    )
    const other = outbound.provider('idp')
    await callOften(() => send(url))
    expect(requests.length).toBeLessThan(30)
    await expect(send(url)).rejects.toMatchObject({ code: 'provider_error', retryAfter: 5 })
    expect(lines).toEqual([`The circuit to ${new URL(url).origin} is Open.`])
    expect((await other.fetch(url)).status).toBe(500)
    expect(outbound.circuits().get('mailer')).toEqual({ closed: 0, open: 1, half_open: 0 })
  })

  it('opens for a server that a deployment brings without closing the way to the host’s own provider', async () => {
    const { url, outbound } = await startProvider((_, response) => response.writeHead(500).end())
    const { fetch: own, egress } = outbound.provider('mailer')
    await callOften(async () => egress?.fetch(url))
    await expect(egress?.fetch(url)).rejects.toMatchObject({ code: 'provider_error' })
    expect((await own(url)).status).toBe(500)
  })

  it.each<[string, OutboundInit]>([
    [
      'a lost lease',
      {
        beforeSend() {
          throw new IntegrationError('delivery_in_progress', 'The lease is lost.')
        },
      },
    ],
    ['a call that its caller ends', { signal: AbortSignal.abort() }],
  ])('counts no failure for %s', async (_, init) => {
    const { url, send } = await startProvider((_, response) => response.end('{}'))
    await callOften(() => send(url, init))
    expect((await send(url)).status).toBe(200)
  })
})
