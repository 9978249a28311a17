/** Senders that pipeline, stall or send in tiny pieces, and what they cost others. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sign } from '@org/core'
import { describe, expect, it } from 'vitest'
import { calling, createFolder, mail } from './hosted.ts'
import { isNightly, tellNightly } from './nightly.ts'
import { secret } from './shipped.ts'
import { open, post, signedPost, surround } from './surrounded.ts'

const around = await surround()
const { OPERATOR_TOKEN } = around.variables
const host = around.ship({ environment: { BODY_LIMIT: '10485760' } })

const ask = async (path: string) =>
  (await fetch((await host.url) + path, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } })).text()
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: host.test\r\n\r\n`

/** A module that tells the limits of a server that listens, so that no test has to wait for them. */
const tellLimits = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...given) {
  return listen.apply(this, given).once('listening', () => {
    const { headersTimeout, requestTimeout, maxConnections } = this
    process.stderr.write(JSON.stringify({ headersTimeout, requestTimeout, maxConnections }))
  })
}`

/** Headers that look signed: without them, the host would refuse the request before its body. */
const forged = () => ({
  'webhook-id': 'evt_forged',
  'webhook-timestamp': Math.floor(Date.now() / 1000),
  'webhook-signature': `v1,${btoa('x'.repeat(32))}`,
})

describe('the bundled host, while a connection has pipelined', () => {
  it('100 GET /openapi.json and reads nothing, holds no copy of the response for it, and answers others', async () => {
    const megabytes = async () =>
      Number(/^nodejs_external_memory_bytes (\S+)$/m.exec(await ask('/metrics'))?.[1]) / 1e6
    await ask('/openapi.json')
    const before = await megabytes()
    const floods = await Promise.all(Array.from({ length: 20 }, async () => open(await host.url)))
    for (const flood of floods) {
      // Reads the beginning of the first response, and no more.
      flood.once('data', () => flood.pause()).write(get('/openapi.json').repeat(100))
      await expect.poll(flood.received).toMatch(/^HTTP\/1.1 200 OK/)
    }
    for (let count = 0; count < 50; count += 1) await ask('/healthz')
    expect(await megabytes()).toBeLessThan(before + 1)
    for (const flood of floods) flood.destroy()
  })

  it('mails, works on one after the other, and on SIGTERM answers each that was sent before', async () => {
    const stopping = around.ship()
    const [sender, idle] = [await open(await stopping.url), await open(await stopping.url)]
    around.reset()
    const provider = around.holdMail()
    for (const id of ['evt_1', 'evt_2']) sender.write(await signedPost(calling('sendEmail', mail), id))
    sender.write(get('/healthz'))
    await expect.poll(provider.arrived).toBe(1)
    idle.write(get('/healthz'))
    await expect.poll(idle.received).toContain('ok')
    expect(provider.arrived()).toBe(1)
    stopping.kill('SIGTERM')
    await idle.left
    provider.letGo()
    expect(await stopping.exit).toBe(0)
    expect(sender.received().match(/HTTP\/1.1 \d+|connection: [a-z-]+/gi)).toEqual([
      ...['HTTP/1.1 200', 'Connection: keep-alive'],
      ...['HTTP/1.1 503', 'Connection: keep-alive'],
      ...['HTTP/1.1 200', 'Connection: close'],
    ])
  })
})

tellNightly('strangers that are silent for as long as the host lets them')

describe('the bundled host, beside strangers,', () => {
  it.each<[string, [announced: number, sent: number][]]>([
    ['were announced, and never come', [10e6, 1e6, 1e6, 1e6].map((announced) => [announced, 70_000])],
    ['fill the memory for all', Array.from({ length: 40 }, () => [4_000_000, 3_000_000])],
  ])('takes signed events of any size while unfinished bodies %s', async (_, bodies) => {
    for (const [announced, sent] of bodies) {
      const stranger = await open(await host.url)
      const text = post({ 'content-length': announced, ...forged() }, ' '.repeat(sent))
      await new Promise<void>((resolve) => stranger.write(text, () => resolve()))
    }
    const event = { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } }
    const answers = [100_000, 1_000_000, 4_000_000].map((bytes) =>
      host.send('mailer', { ...event, padding: 'x'.repeat(bytes) }),
    )
    expect(await Promise.all(answers)).toMatchObject(Array(3).fill({ status: 200 }))
  })

  it('keeps nothing of bodies that go on in pieces of one byte after they were refused', async () => {
    const small = around.ship({ environment: { NODE_OPTIONS: '--max-old-space-size=64' } })
    const pieces = '1\r\n{\r\n'
    const flood = async () => {
      const stranger = await open(await small.url)
      stranger.write(post({ 'transfer-encoding': 'chunked', ...forged() }, pieces.repeat(2_000)))
      await expect.poll(stranger.received, { interval: 5 }).toMatch(/^HTTP\/1.1 400 /)
      stranger.write(pieces.repeat(300_000))
      await stranger.left
    }
    await Promise.all(Array.from({ length: 20 }, flood))
    expect(await small.send('mailer', { name: 'HEALTH_CHECK' })).toMatchObject({ status: 200 })
  })

  it.each([
    ['without a signature', undefined],
    ['signed six minutes ago', new Date(Date.now() - 360_000)],
  ])('waits for the body of no request that is %s', async (_, timestamp) => {
    const stranger = await open(await host.url)
    const signed = timestamp ? await sign({ secret, id: 'evt', body: '{}', timestamp }) : {}
    stranger.write(post({ 'content-length': 1_000, ...signed }))
    await expect.poll(stranger.received).toMatch(/^HTTP\/1.1 401 /)
  })

  it('has 10,000 connections at most, and each has ten seconds for its headers, and a time by its limit for a body', async () => {
    const preload = join(createFolder(), 'limits.mjs')
    writeFileSync(preload, tellLimits)
    const environment = { BODY_LIMIT: '65536', NODE_OPTIONS: `--import=${preload}` }
    const { url, errors } = around.ship({ environment })
    await url
    const limits = { headersTimeout: 10_000, requestTimeout: 16_000, maxConnections: 10_000 }
    await expect.poll(errors).toContain(JSON.stringify(limits))
  })

  it.runIf(isNightly)(
    'closes connections that are silent, or do not end their headers or their body',
    async () => {
      const { url } = around.ship({ environment: { BODY_LIMIT: '65536' } })
      for (const text of ['', 'POST / HTTP/1.1\r\n', post({ 'content-length': 1_000, ...forged() }, '{')]) {
        const stranger = await open(await url)
        stranger.write(text)
        await stranger.left
      }
    },
  )
})
