import { createSecureServer, constants as http2, type ServerHttp2Stream } from 'node:http2'
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { cert, key } from '../../../tooling/runtimes/certificate.ts'
import type { OutgoingRequest } from '../src/outbound/outbound.ts'
import { createNodeRuntime } from '../src/runtimes/node-runtime.ts'
import { portOf } from './raw-server.ts'

/** Starts a provider over TLS, and resolves with a function that sends a write to it. `refuse` may take a call over HTTP/2. */
async function startProvider(refuse: (number: number, stream: ServerHttp2Stream) => boolean = () => false) {
  /** The calls that were processed: the protocol, the body, and the number of the connection. */
  const processed: { version: string; body: string; connection: number }[] = []
  const sockets: TLSSocket[] = []
  let number = 0
  const server = createSecureServer({ cert, key, allowHTTP1: true }, async (request, response) => {
    number += 1
    if (request.httpVersion === '2.0' && refuse(number, response.stream)) return
    let body = ''
    for await (const chunk of request) body += chunk
    const connection = sockets.findIndex(({ remotePort }) => remotePort === request.socket.remotePort)
    processed.push({ version: request.httpVersion, body, connection })
    response.end('{}')
  }).on('secureConnection', (socket) => sockets.push(socket))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const url = `https://127.0.0.1:${await portOf(server)}/things`
  const { certain } = createNodeRuntime({ production: false, egressAllow: [] }).connections
  return {
    processed,
    sockets,
    async write(body: string, init: Partial<OutgoingRequest> = {}) {
      const response = await certain({ url, method: 'POST', headers: {}, body, signal: null, ...init })
      return response.text()
    },
  }
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index))

describe('a write to a provider over TLS', () => {
  beforeAll(() => setDefaultCACertificates([...getCACertificates('default'), cert]))

  it('goes over one connection with others if the provider offers HTTP/2, and it is short', async () => {
    const { write, processed, sockets } = await startProvider()
    await write('first')
    await Promise.all(numbers(20).map((body) => write(body)))
    expect(processed.map(({ version }) => version)).toEqual(Array(21).fill('2.0'))
    expect(sockets).toHaveLength(1)
    await write('x'.repeat(65_536))
    expect(processed.at(-1)).toMatchObject({ version: '1.1', connection: 1 })
  })

  it.each<[string, (stream: ServerHttp2Stream) => void]>([
    [
      'says goodbye at its moment',
      ({ id = 0, session }) => {
        session?.goaway(http2.NGHTTP2_NO_ERROR, id - 2)
        session?.destroy()
      },
    ],
    ['refuses it unprocessed', (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM)],
  ])('is processed once if the provider %s, and asks again for its lease', async (_, refuse) => {
    let [asked, seen] = [0, 0]
    const { write, processed } = await startProvider((number, stream) => {
      seen = number
      if (number % 3 === 2) refuse(stream)
      return number % 3 === 2
    })
    const beforeSend = () => {
      asked += 1
    }
    for (const body of numbers(12)) expect(await write(body, { beforeSend })).toBe('{}')
    expect(processed.map(({ body }) => body)).toEqual(numbers(12))
    expect([seen > 12, asked]).toEqual([true, seen])
  })

  it('is not sent if the provider refuses it unprocessed each time', async () => {
    const { write, processed } = await startProvider((number, stream) => {
      if (number > 1) stream.close(http2.NGHTTP2_REFUSED_STREAM)
      return number > 1
    })
    await write('first')
    await expect(write('refused')).rejects.toMatchObject({ code: 'ERR_NOT_SENT' })
    expect(processed).toHaveLength(1)
  })

  it.each<[string, (stream: ServerHttp2Stream, caller: AbortController) => void]>([
    ['that broke without an answer', ({ session }) => session?.socket.destroy()],
    ['with a call that got no answer in time', (_, caller) => caller.abort(new Error('too late'))],
  ])('shares no connection %s', async (_, lose) => {
    const caller = new AbortController()
    const { write, processed } = await startProvider((number, stream) => {
      if (number === 2) lose(stream, caller)
      return number === 2
    })
    await write('first')
    const lost = await write('lost', { signal: caller.signal }).catch((error: unknown) => error)
    expect(lost).toBeInstanceOf(Error)
    expect(lost).not.toMatchObject({ code: 'ERR_NOT_SENT' })
    for (const body of numbers(4)) await write(body)
    expect(processed.map(({ connection }) => connection)).toEqual([0, 1, 1, 1, 1])
  })
})
