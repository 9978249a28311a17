/** Senders that pipeline requests to the shipped process, and what they cost others. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { sign } from '@org/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { secret } from './deployed.ts'
import { calling, mail } from './hosted.ts'
import { isNightly } from './nightly.ts'
import { startShipped } from './shipped.ts'
import { surround } from './surrounded.ts'

const OPERATOR_TOKEN = 'the-token-of-the-operator-of-this-host'
const around = await surround()

async function start() {
  const host = startShipped({ environment: { ...around.variables, OPERATOR_TOKEN } })
  onTestFinished(() => host.kill('SIGKILL'))
  const url = await host.url
  const ask = async (path: string) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
  return {
    ...host,
    ask,
    megabytes: async (name: string) =>
      Number(new RegExp(`^${name}_memory_bytes (\\S+)$`, 'm').exec(await ask('/metrics'))?.[1]) / 1e6,
    connect() {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
      onTestFinished(() => void socket.destroy())
      return socket
    },
  }
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: host.test\r\n${more}\r\n`

async function post(event: object, id: string): Promise<string> {
  const body = JSON.stringify(event)
  const headers = {
    host: 'host.test',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(await sign({ secret, id, body })),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mailer/webhook HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

// The longest response; the others leave the same way.
const paths = isNightly ? ['/openapi.json', '/docs', '/integrations'] : ['/openapi.json']

describe('the bundled host, while a connection has pipelined', () => {
  it.each(paths)('4,000 GET %s and reads nothing, answers others and takes little memory', async (path) => {
    const host = await start()
    await host.ask(path)
    const flood = host.connect()
    await new Promise((resolve) => flood.write(get(path).repeat(4_000), resolve))
    for (let count = 0; count < 100; count += 1) expect(await host.ask('/healthz')).toContain('ok')
    expect(await host.megabytes('process_resident')).toBeLessThan(250)
    const [first] = await once(flood, 'data')
    expect(String(first)).toMatch(/^HTTP\/1.1 200 OK/)
  })

  it.each(paths)('100 GET %s and reads nothing, holds no copy of the response for it', async (path) => {
    const host = await start()
    await host.ask(path)
    const before = await host.megabytes('nodejs_external')
    for (let count = 0; count < 20; count += 1) host.connect().write(get(path).repeat(100))
    for (let count = 0; count < 200; count += 1) await host.ask('/healthz')
    expect(await host.megabytes('nodejs_external')).toBeLessThan(before + 1)
  })

  it('5,000 GET /nope, answers others between them, and all of them', async () => {
    const host = await start()
    await host.ask('/nope')
    const flood = host.connect()
    let received = ''
    flood.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
    const closed = once(flood, 'close')
    // Node closes a connection if the host needs more than 10 s for what one read of it holds: here 600 requests.
    const request = get('/nope', `x-padding: ${'x'.repeat(50)}\r\n`)
    flood.write(request.repeat(5_000) + get('/healthz', 'connection: close\r\n'))
    let between = 0
    await once(flood, 'data')
    while (!flood.destroyed) {
      await host.ask('/healthz')
      between += 1
    }
    await closed
    expect(received.match(/HTTP\/1.1 404/g)).toHaveLength(5_000)
    // About three, where the host answers all that it reads at a time.
    expect(between).toBeGreaterThan(35)
  })
})

// The tests of the queue prove in which way: it cuts them.
it.runIf(isNightly)(
  'the bundled host survives 200 connections that pipeline 2,000 requests each',
  async () => {
    const host = startShipped({
      environment: around.variables,
      flags: ['--max-old-space-size=512'],
    })
    onTestFinished(() => host.kill('SIGKILL'))
    const port = Number(new URL(await host.url).port)
    const sockets = Array.from({ length: 200 }, () =>
      connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    )
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) socket.write(get('/healthz').repeat(2_000))
    for (let count = 0; count < 20; count += 1)
      expect((await fetch(`${await host.url}/healthz`)).status).toBe(200)
  },
)

describe('of pipelined requests, the bundled host', () => {
  /** Sends requests on one connection while the provider holds the first mail. */
  async function sendHeld(requests: readonly string[]) {
    const host = await start()
    around.reset()
    const provider = around.holdMail()
    onTestFinished(provider.letGo)
    const sender = host.connect()
    let received = ''
    sender.on('data', (chunk) => {
      received += chunk
    })
    sender.write(requests.join(''))
    await expect.poll(provider.arrived).toBe(1)
    return { host, provider, answers: () => received.match(/HTTP\/1.1 \d+|connection: [a-z-]+/gi) ?? [] }
  }
  const sendTo = (to: string) => post(calling('sendEmail', { ...mail, to }), `evt_${to}`)
  const kept = ['HTTP/1.1 200', 'Connection: keep-alive']

  it('works on one after the other', async () => {
    const to = ['first@example.com', 'second@example.com', 'third@example.com']
    const { host, provider, answers } = await sendHeld(await Promise.all(to.map(sendTo)))
    for (let count = 0; count < 10; count += 1) await host.ask('/healthz')
    expect(provider.arrived()).toBe(1)
    provider.letGo()
    await expect.poll(answers).toEqual([...kept, ...kept, ...kept])
    expect(around.mail.messages.flatMap((message) => message.to)).toEqual(to)
  })

  it('answers every one that was sent before SIGTERM', async () => {
    const { host, provider, answers } = await sendHeld([
      await sendTo('draining@example.com'),
      get('/healthz'),
      get('/readyz'),
    ])
    host.kill('SIGTERM')
    await expect.poll(() => host.log.at(-1)?.message).toContain('SIGTERM')
    provider.letGo()
    expect(await host.exit).toBe(0)
    expect(answers()).toEqual([...kept, ...kept, 'HTTP/1.1 503', 'Connection: close'])
  })
})
