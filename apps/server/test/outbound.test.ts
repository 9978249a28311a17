import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { IntegrationError } from '@org/core'
import type { OutboundInit } from '@org/core/hosting'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCircuits, createPlatformCircuit } from '../src/outbound/circuit-breaker.ts'
import { createOutbound } from '../src/outbound/outbound.ts'
import { createNodeRuntime } from '../src/runtimes/node-runtime.ts'
import { listen } from './raw-server.ts'

/** A provider over HTTP, and the `fetch` of an integration that calls it. */
async function startProvider(listener: RequestListener) {
  const { host, close, ...provider } = await listen(listener)
  onTestFinished(close)
  const lines: string[] = []
  const outbound = createOutbound({
    ...createNodeRuntime({ production: false, egressAllow: [] }),
    logger: (_, message) => lines.push(message),
  }).provider('mailer')
  return { ...provider, url: `http://${host}/things?page=2`, send: outbound.fetch, outbound, lines }
}

const loseLease = () => {
  throw new IntegrationError('delivery_in_progress', 'The lease is lost.')
}

describe('a call to a provider', () => {
  it.each(['a URL', 'a native Request although the HTTP server replaced the global class'])(
    'may be made with %s',
    async (given) => {
      const { url, send, requests } = await startProvider((_, response) => {
        response.writeHead(201, { 'x-many': ['a', 'b'] }).end('{"id":1}')
      })
      const headers = { 'content-type': 'application/json', 'x-token': 't' }
      const init = { method: 'POST', headers, body: '{"a":"ü"}' }
      const request = new Request(url, init)
      vi.stubGlobal('Request', class {})
      onTestFinished(() => void vi.unstubAllGlobals())
      const response = await (given === 'a URL' ? send(new URL(url), init) : send(request))
      expect([response.status, response.headers.get('x-many')]).toEqual([201, 'a, b'])
      expect(await response.json()).toEqual({ id: 1 })
      const sent = {
        ...init,
        url: '/things?page=2',
        headers: { ...headers, 'user-agent': 'integration-host' },
      }
      expect(requests).toMatchObject([sent])
    },
  )

  it('writes nothing when the lease is lost while the connection opens', async () => {
    const { url, send, requests } = await startProvider((_, response) => response.end())
    const onConnected = vi.fn()
    subscribe('undici:client:connected', onConnected)
    onTestFinished(() => void unsubscribe('undici:client:connected', onConnected))
    const beforeSend = () => {
      expect(onConnected).toHaveBeenCalled()
      loseLease()
    }
    const written: OutboundInit = { method: 'POST', body: '{}', beforeSend }
    await expect(send(url, written)).rejects.toMatchObject({ code: 'delivery_in_progress' })
    expect(requests).toEqual([])
  })

  it('tells that nothing was sent when the connection cannot be secured', async () => {
    const { url, send, requests } = await startProvider((_, response) => response.end())
    const sent = send(url.replace('http:', 'https:'), { method: 'POST', body: '{}' })
    await expect(sent).rejects.toMatchObject({ code: 'ERR_NOT_SENT' })
    expect(requests).toEqual([])
  })

  it('reads a response without a body, one that is compressed although nobody asked, and a long one', async () => {
    const { url, send } = await startProvider(({ method }, response) => {
      if (method === 'DELETE') response.writeHead(204).end()
      else if (method === 'PUT') response.end('x'.repeat(5_000_000))
      else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"id":2}'))
    })
    expect((await send(url, { method: 'DELETE' })).body).toBeNull()
    expect(await (await send(url)).json()).toEqual({ id: 2 })
    expect(await (await send(url, { method: 'PUT' })).text()).toHaveLength(5_000_000)
    const reader = (await send(url, { method: 'PUT' })).body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
    await reader?.cancel()
    expect(await reader?.read()).toEqual({ done: true, value: undefined })
  })

  it.each([
    ['before it is sent', 0],
    ['while it waits for the response', 1],
  ])('ends by its signal %s', async (_, arrived) => {
    const controller = new AbortController()
    const reason = new Error('no more interest')
    const { url, send, requests } = await startProvider(() => controller.abort(reason))
    if (arrived === 0) controller.abort(reason)
    await expect(send(url, { signal: controller.signal })).rejects.toBe(reason)
    expect(requests).toHaveLength(arrived)
  })

  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n'
  it.each([
    ['follows no redirect', '', 307, 307],
    ['waits for the response that follows ten early hints', hint.repeat(10), 200, 200],
    ['fails after eleven early hints', hint.repeat(11), 200, expect.stringContaining('more than 10 inform')],
    ['survives the status 600', '', 600, expect.stringContaining('the status 600')],
  ])('%s', async (_, before, status, result) => {
    const { url, send, requests } = await startProvider((_, response) => {
      response.socket?.write(before)
      response.writeHead(status, { location: '/stolen' }).end()
    })
    const sent = send(url, { method: 'POST' })
    expect(await sent.then(({ status }) => status, String)).toEqual(result)
    expect(requests).toHaveLength(1)
  })

  it('sends each write over a connection that carried no call, and keeps one for reads', async () => {
    const carried = new WeakMap<object, number>()
    const { url, send, connections } = await startProvider(({ socket }, response) => {
      const calls = (carried.get(socket) ?? 0) + 1
      carried.set(socket, calls)
      response.end(String(calls))
    })
    const write = async () => (await send(url, { method: 'POST', body: '{}' })).text()
    for (let made = 0; made < 5; made += 1) expect(await write()).toBe('1')
    expect(await Promise.all(Array.from({ length: 20 }, write))).toEqual(Array(20).fill('1'))
    const before = connections()
    for (let read = 0; read < 20; read += 1) await (await send(url)).text()
    expect(connections()).toBeLessThan(before + 20)
  })
})

describe('the circuit of a provider', () => {
  const callOften = async (call: () => Promise<unknown>) => {
    for (let made = 0; made < 30; made += 1) await call().catch(() => {})
  }

  it('opens for a server that a deployment brings, and not for the host’s own provider', async () => {
    const { url, outbound, lines } = await startProvider((_, response) => response.writeHead(500).end())
    const { fetch: own, egress } = outbound
    await callOften(async () => egress?.fetch(url))
    await expect(egress?.fetch(url)).rejects.toMatchObject({ code: 'provider_error', retryAfter: 5 })
    expect(lines).toEqual([`A circuit to ${new URL(url).origin} is Open.`])
    // Changes have the gate, whose reads pass.
    for (const init of [{ isProbe: true }, { method: 'POST' }])
      expect((await egress?.fetch(url, init))?.status).toBe(500)
    expect((await own(url)).status).toBe(500)
  })

  it.each(['authorization', 'X-Mailer-Server-Token'])(
    'opens for the account that fails, for no other and at no other origin: %s',
    async (header) => {
      const { url, send } = await startProvider((request, response) => {
        response.writeHead(request.headers[header.toLowerCase()] === 'failing' ? 500 : 200).end()
      })
      const callAs = (account: string) => send(url, { headers: { [header]: account } })
      await callOften(() => callAs('failing'))
      await expect(callAs('failing')).rejects.toMatchObject({ code: 'provider_error', retryAfter: 5 })
      expect((await callAs('another')).status).toBe(200)
      const elsewhere = await startProvider((_, response) => response.end('{}'))
      expect((await send(elsewhere.url, { headers: { [header]: 'failing' } })).status).toBe(200)
    },
  )

  it('begins anew when there are a thousand', async () => {
    const circuits = createCircuits('mailer', () => {})
    for (let account = 0; account < 1_100; account += 1) {
      const headers = { authorization: `Bearer ${account}` }
      await circuits.run({ method: 'GET', url: 'https://mail.test', headers }, async () => new Response())
    }
    expect(circuits.states()).toHaveLength(100)
  })

  const noDescriptor = () => {
    throw Object.assign(new Error('connect EMFILE 192.0.2.1:443'), { code: 'EMFILE', syscall: 'connect' })
  }
  it.each<[string, status: number, OutboundInit]>([
    ['a refusal', 422, {}],
    ['a lost lease', 200, { beforeSend: loseLease }],
    ['a call that its caller ends', 200, { signal: AbortSignal.abort() }],
    ['a shortage of the host', 200, { beforeSend: noDescriptor }],
  ])('counts no failure for %s', async (_, status, init) => {
    const { url, send } = await startProvider((_, response) => response.writeHead(status).end('{}'))
    await callOften(() => send(url, init))
    expect((await send(url)).status).toBe(status)
  })
})

it('the platform has 250 calls at a time, half of the events of a host, and the next one fails at once', async () => {
  const { promise: held, resolve: letGo } = Promise.withResolvers<Response>()
  const wrapped = createPlatformCircuit(() => {}).wrap(() => held)
  const call = () => wrapped('https://platform.test')
  const underWay = Array.from({ length: 250 }, call)
  const next = call()
  letGo(new Response())
  const message = 'The platform has too many calls under way.'
  await expect(next).rejects.toMatchObject({ code: 'platform_unavailable', message })
  await Promise.all(underWay)
  expect((await call()).status).toBe(200)
})
