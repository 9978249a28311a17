import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer, type RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { CallInit } from '@org/core'
import { Agent } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fetchThrough } from '../src/dispatch.ts'

/** A server, and a `fetch` to it over connections of its own. */
async function arrange(listener: RequestListener) {
  const requests: { method: string | undefined; headers: Record<string, unknown>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    requests.push({ method: request.method, headers: request.headers, body })
    listener(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent({ pipelining: 0 })
  onTestFinished(async () => {
    await agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/things?page=2`,
    send: fetchThrough(agent),
    requests,
  }
}

describe('the transport of a Node host', () => {
  const asFetchDoes: { what: string; given(url: string, init: RequestInit): Parameters<typeof fetch> }[] = [
    { what: 'an address and what is sent', given: (url, init) => [url, init] },
    { what: 'a URL', given: (url, init) => [new URL(url), init] },
    { what: 'a Request', given: (url, init) => [new Request(url, init)] },
  ]
  it.each(asFetchDoes)('takes $what, as fetch does', async ({ given }) => {
    const { url, send, requests } = await arrange((_, response) => {
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

  it('writes nothing where the call must not leave any more once the connection is there', async () => {
    const { url, send, requests } = await arrange((_, response) => response.end())
    let connected = false
    const onConnected = () => {
      connected = true
    }
    subscribe('undici:client:connected', onConnected)
    onTestFinished(() => void unsubscribe('undici:client:connected', onConnected))
    const refusal = new Error('The claim was lost.')
    const init: CallInit = {
      method: 'POST',
      body: '{}',
      ensureHeld() {
        expect(connected).toBe(true)
        throw refusal
      },
    }
    await expect(send(url, init)).rejects.toBe(refusal)
    expect(requests).toEqual([])
  })

  it('does not follow a redirect', async () => {
    const { url, send, requests } = await arrange((_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await send(url)).status).toBe(302)
    expect(requests).toHaveLength(1)
  })

  it('understands an answer without a body, and one that is packed although nobody asked', async () => {
    const { url, send } = await arrange((request, response) => {
      if (request.method === 'DELETE') response.writeHead(204).end()
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"packed":true}'))
    })
    expect((await send(url, { method: 'DELETE' })).body).toBeNull()
    expect(await (await send(url)).json()).toEqual({ packed: true })
  })

  it('hands over a long answer piece by piece, and stops where the rest is not wanted', async () => {
    const { url, send } = await arrange((_, response) => response.end('x'.repeat(5_000_000)))
    expect(await (await send(url)).text()).toHaveLength(5_000_000)
    const { body } = await send(url)
    const reader = body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
    await reader?.cancel()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })

  it.each([
    { when: 'before', during: false },
    { when: 'while it waits for', during: true },
  ])('ends a call by its signal $when the answer', async ({ during }) => {
    const controller = new AbortController()
    const reason = new Error('no more interest')
    const { url, send, requests } = await arrange(() => controller.abort(reason))
    if (!during) controller.abort(reason)
    await expect(send(url, { signal: controller.signal })).rejects.toBe(reason)
    expect(requests).toHaveLength(during ? 1 : 0)
  })

  it('rejects where the connection breaks, also in the middle of an answer', async () => {
    const { url, send } = await arrange((request, response) => {
      if (request.method === 'POST') return void response.socket?.destroy()
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"half":', () => response.socket?.destroy())
    })
    await expect(send(url, { method: 'POST' })).rejects.toThrow()
    await expect(send(url).then((response) => response.text())).rejects.toThrow()
    await expect(send('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  it('rejects a response whose status no Response can hold', async () => {
    const { url, send } = await arrange((_, response) => response.writeHead(600).end('odd'))
    await expect(send(url)).rejects.toThrow('The server answered with the status 600.')
  })

  it('waits for the response that follows early hints', async () => {
    const { url, send } = await arrange((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' }, () => response.end('{"id":1}'))
    })
    expect(await (await send(url)).json()).toEqual({ id: 1 })
  })
})
