/** Senders that pipeline, stall or send in tiny pieces, and what they cost others. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { sign } from '@org/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { calling, mail } from './hosted.ts'
import { isNightly } from './nightly.ts'
import { secret, signedRequest } from './shipped.ts'
import { surround } from './surrounded.ts'

const around = await surround()
const { OPERATOR_TOKEN } = around.variables
const host = around.ship({ environment: { BODY_LIMIT: '10485760' } })

const ask = async (path: string) =>
  (await fetch((await host.url) + path, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
const megabytes = async (name: string) =>
  Number(new RegExp(`^${name}_memory_bytes (\\S+)$`, 'm').exec(await ask('/metrics'))?.[1]) / 1e6

/** Connects to a host, and collects what it answers. */
async function open({ url } = host) {
  let received = ''
  const socket = connect(Number(new URL(await url).port), '127.0.0.1').on('error', () => {})
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const read = () =>
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1')
    })
  const write = (text: string) => new Promise<void>((resolve) => socket.write(text, () => resolve()))
  return { socket, read, write, received: () => received }
}

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nhost: host.test\r\n${more}\r\n`

/** A POST to the mailer. */
function post(headers: Record<string, string | number>, body = ''): string {
  const all = { host: 'host.test', 'content-type': 'application/json', ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /mailer/webhook HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** Headers that look signed: without them, the host would refuse the request before its body. */
const forged = () => ({
  'webhook-id': 'evt_forged',
  'webhook-timestamp': Math.floor(Date.now() / 1000),
  'webhook-signature': `v1,${btoa('x'.repeat(32))}`,
})

describe('the bundled host, while a connection has pipelined', () => {
  it('100 GET /openapi.json and reads nothing, holds no copy of the response for it, and answers others', async () => {
    await ask('/openapi.json')
    const before = await megabytes('nodejs_external')
    const flood = await open()
    for (const { write } of [flood, ...(await Promise.all(Array.from({ length: 19 }, () => open())))])
      void write(get('/openapi.json').repeat(100))
    for (let count = 0; count < 200; count += 1) await ask('/healthz')
    expect(await megabytes('nodejs_external')).toBeLessThan(before + 1)
    const [first] = await once(flood.socket, 'data')
    expect(String(first)).toMatch(/^HTTP\/1.1 200 OK/)
  })

  it('5,000 GET /nope, answers others between them, and all of them', async () => {
    await ask('/nope')
    const { socket, read, write, received } = await open()
    read()
    const closed = once(socket, 'close')
    // Node closes a connection if the host needs more than 10 s for what one read of it holds: here 600 requests.
    const request = get('/nope', `x-padding: ${'x'.repeat(50)}\r\n`)
    void write(request.repeat(5_000) + get('/healthz', 'connection: close\r\n'))
    let between = 0
    await once(socket, 'data')
    for (; !socket.destroyed; between += 1) await ask('/healthz')
    await closed
    expect(received().match(/HTTP\/1.1 404/g)).toHaveLength(5_000)
    // About three, where the host answers all that it reads at a time.
    expect(between).toBeGreaterThan(35)
  })

  // The tests of the queue prove in which way: it cuts them.
  it.runIf(isNightly)('2,000 requests, as 199 others have, survives', async () => {
    const small = around.ship({ flags: ['--max-old-space-size=512'] })
    const floods = await Promise.all(Array.from({ length: 200 }, () => open(small)))
    for (const { read, write } of floods) {
      read()
      void write(get('/healthz').repeat(2_000))
    }
    for (let count = 0; count < 20; count += 1)
      expect((await fetch(`${await small.url}/healthz`)).status).toBe(200)
  })

  it('mails, works on one after the other, and on SIGTERM answers each that was sent before', async () => {
    const stopping = around.ship()
    const { write, read, received } = await open(stopping)
    read()
    around.reset()
    const provider = around.holdMail()
    onTestFinished(provider.letGo)
    for (const id of ['evt_1', 'evt_2']) {
      const body = JSON.stringify(calling('sendEmail', mail))
      const signed = await sign({ secret, id, body })
      void write(post({ 'content-length': Buffer.byteLength(body), ...signed }, body))
    }
    void write(get('/healthz'))
    await expect.poll(provider.arrived).toBe(1)
    for (let count = 0; count < 10; count += 1) await fetch(`${await stopping.url}/healthz`)
    expect(provider.arrived()).toBe(1)
    stopping.kill('SIGTERM')
    await expect.poll(() => stopping.log.at(-1)?.message).toContain('SIGTERM')
    provider.letGo()
    expect(await stopping.exit).toBe(0)
    expect(received().match(/HTTP\/1.1 \d+|connection: [a-z-]+/gi)).toEqual([
      ...['HTTP/1.1 200', 'Connection: keep-alive'],
      ...['HTTP/1.1 503', 'Connection: keep-alive'],
      ...['HTTP/1.1 200', 'Connection: close'],
    ])
  })
})

describe('the bundled host, beside strangers,', () => {
  it.each<[string, [announced: number, sent: number][]]>([
    ['were announced, and never come', [10e6, 1e6, 1e6, 1e6].map((announced) => [announced, 70_000])],
    ['fill the memory for all', Array.from({ length: 40 }, () => [4_000_000, 3_000_000])],
  ])('takes signed events of any size while unfinished bodies %s', async (_, bodies) => {
    const sendPart = async ([announced = 0, sent = 0]: number[]) => {
      const { socket, write } = await open()
      // The host may refuse it at any time.
      socket.resume()
      await write(post({ 'content-length': announced, ...forged() }, ' '.repeat(sent)))
    }
    await Promise.all(bodies.map(sendPart))
    const statusOf = async (bytes: number) => {
      const event = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' }, padding: 'x'.repeat(bytes) }
      const url = `${await host.url}/mailer/webhook`
      return (await fetch(await signedRequest(JSON.stringify(event), { url }))).status
    }
    expect(await Promise.all([100_000, 1_000_000, 4_000_000].map(statusOf))).toEqual([200, 200, 200])
  })

  it('has one line of the log for each address and kind of refusal', async () => {
    const own = around.ship()
    const ask = async (path: string, type: string, init: RequestInit = {}) => {
      const headers = { 'content-type': type, ...init.headers }
      return (await fetch((await own.url) + path, { method: 'POST', body: '{}', ...init, headers })).status
    }
    for (let count = 0; count < 10; count += 1) {
      expect(await ask('/mailer/webhook', 'application/json')).toBe(401)
      expect(await ask('/mailer/webhook', 'application/json', { method: 'PUT' })).toBe(405)
      expect(await ask('/mailer/webhook', 'text/plain')).toBe(415)
      expect(await ask('/wp-login.php', 'application/json')).toBe(404)
    }
    const kinds = own.log
      .filter(({ route, path }) => route ?? path)
      .map(({ code, message }) => code ?? message)
    const codes = ['invalid_signature', 'method_not_allowed', 'unsupported_media_type']
    expect(kinds.toSorted()).toEqual([expect.stringContaining('path'), ...codes])
  })

  it.each([
    ['without a signature', {}],
    ['signed six minutes ago', { timestamp: new Date(Date.now() - 360_000) }],
  ])('waits for the body of no request that is %s', async (_, given) => {
    const { write, read, received } = await open()
    const signed = 'timestamp' in given ? await sign({ secret, id: 'evt', body: '{}', ...given }) : {}
    read()
    void write(post({ 'content-length': 1_000, ...signed }))
    await expect.poll(received).toMatch(/^HTTP\/1.1 401 /)
  })

  it.runIf(isNightly)(
    'closes connections that are silent, or do not end their headers or their body',
    async () => {
      const small = around.ship({ environment: { BODY_LIMIT: '65536' } })
      const unfinished = [
        '',
        'POST /mailer/webhook HTTP/1.1\r\n',
        post({ 'content-length': 1_000, ...forged() }, '{'),
      ]
      const closed = unfinished.map(async (text) => {
        const { socket, read, write } = await open(small)
        read()
        void write(text)
        await new Promise((resolve) => socket.once('close', resolve))
      })
      await Promise.all(closed)
    },
  )

  it('refuses a body in pieces of one byte, and closes its connection', async () => {
    const { socket, read, write, received } = await open()
    read()
    // Not `events.once`, which rejects if a write fails.
    const closed = new Promise((resolve) => socket.once('close', resolve))
    void write(post({ 'transfer-encoding': 'chunked', ...forged() }))
    const pieces = '1\r\na\r\n'.repeat(20_000)
    for (let count = 0; count < 200 && !socket.destroyed; count += 1) socket.write(pieces)
    await closed
    expect(received()).toMatch(/^HTTP\/1.1 400 /)
  })
})
