import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createOneAtATime } from '../src/runtimes/one-at-a-time.ts'

const ask = (path = '/', more = 'host: host.test\r\n') => `GET ${path} HTTP/1.1\r\n${more}\r\n`

/** Starts a server, which answers `/held` when `letGo` is called, and every other request at once. */
async function start(answer: RequestListener = (_, outgoing) => outgoing.end(), unreadMs?: number) {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { server } = createOneAtATime(
    unreadMs === undefined ? {} : { unreadMs },
    async (incoming, outgoing) => {
      if (incoming.url === '/held') await held
      answer(incoming, outgoing)
    },
  )
  let parsed = 0
  server.on('request', () => {
    parsed += 1
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  /** Opens a connection that reads nothing before `resume`. */
  const open = (text = '') => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.pause()
    socket.write(text)
    return Object.assign(socket, {
      answers: () => received.match(/HTTP\/1.1 \d+/g) ?? [],
      received: () => received,
    })
  }
  return { open, letGo, parsed: () => parsed }
}

describe('a connection on which a request waits', () => {
  it('is not read until the last one begins', async () => {
    const { open, letGo, parsed } = await start()
    const sender = open(ask('/held') + ask() + ask())
    sender.resume()
    await expect.poll(parsed).toBe(3)
    await new Promise<void>((resolve) => sender.write(ask() + ask(), () => resolve()))
    for (let count = 0; count < 5; count += 1) {
      const other = open(ask('/', 'host: host.test\r\nconnection: close\r\n'))
      await once(other.resume(), 'close')
    }
    expect(parsed()).toBe(3 + 5)
    letGo()
    await expect.poll(sender.answers).toHaveLength(5)
  })

  it.each([
    ['requests', undefined],
    ['requests without a host', ''],
    ['requests with an unknown expectation', 'host: host.test\r\nexpect: more\r\n'],
  ])('is cut when 10,000 %s wait on all connections', async (_, more) => {
    const { open, letGo } = await start()
    const patient = open(ask().repeat(12_000)).resume()
    await expect.poll(patient.answers).toHaveLength(12_000)
    const crowd = Array.from({ length: 20 }, () => open(ask('/held') + ask('/', more).repeat(1_000)).resume())
    await Promise.race(crowd.map((sender) => once(sender, 'close')))
    for (const sender of crowd) sender.destroy()
    letGo()
    // They no longer wait.
    const next = open(ask('/held') + ask()).resume()
    await expect.poll(next.answers).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
  })
})

describe('a peer', () => {
  it('that reads nothing of its response is cut', async () => {
    const { promise: closed, resolve } = Promise.withResolvers<boolean>()
    const { open } = await start((_, outgoing) => {
      outgoing.on('close', () => resolve(outgoing.writableFinished)).end(Buffer.alloc(32_000_000))
    }, 50)
    open(ask())
    expect(await closed).toBe(false)
  })

  it('that waits longer than that for its response is not cut', async () => {
    const { open, letGo, parsed } = await start(undefined, 50)
    const sender = open(ask('/held')).resume()
    await expect.poll(parsed).toBe(1)
    // The server closes a connection without a request after the same time.
    await once(open().resume(), 'close')
    letGo()
    await expect.poll(sender.answers).toEqual(['HTTP/1.1 200'])
  })

  it.each([
    ['no host in HTTP/1.0', '1.0', '', 'HTTP/1.1 200'],
    ['no host in HTTP/1.1', '1.1', '', 'HTTP/1.1 400'],
    ['two hosts', '1.1', 'host: a.test\r\nHost: b.test\r\n', 'HTTP/1.1 400'],
  ])('that names %s gets its response', async (_, version, more, expected) => {
    const { open } = await start()
    const sender = open(`GET / HTTP/${version}\r\nconnection: close\r\n${more}\r\n`).resume()
    await once(sender, 'close')
    expect(sender.answers()).toEqual([expected])
  })
})
