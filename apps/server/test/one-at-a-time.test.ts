import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createDrain } from '../src/runtimes/drain.ts'
import { createOneAtATime } from '../src/runtimes/one-at-a-time.ts'
import { portOf } from './raw-server.ts'

const HOST = 'host: host.test\r\n'
const ask = (path = '/', more = HOST) => `GET ${path} HTTP/1.1\r\n${more}\r\n`

/** Starts a server, which answers `/held` when `letGo` is called, and every other request at once. */
async function start(answer: RequestListener = (_, outgoing) => outgoing.end(), unreadMs = 15_000) {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const { server, hasWaiting } = createOneAtATime({ unreadMs }, async (incoming, outgoing) => {
    if (incoming.url === '/held') await held
    answer(incoming, outgoing)
  })
  let parsed = 0
  server.on('request', () => {
    parsed += 1
  })
  const port = await portOf(server)
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  /** Opens a connection that reads nothing before `resume`. */
  function open(text = '') {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.pause().write(text)
    const answers = () => received.match(/HTTP\/1.1 \d+/g) ?? []
    return Object.assign(socket, { answers, received: () => received })
  }
  return { open, letGo, parsed: () => parsed, drain: createDrain(server, { hasWaiting }) }
}

it('a connection on which a request waits is not read until the last one begins', async () => {
  const { open, letGo, parsed } = await start()
  const sender = open(ask('/held') + ask() + ask()).resume()
  await expect.poll(parsed).toBe(3)
  await new Promise<void>((resolve) => sender.write(ask() + ask(), () => resolve()))
  // Other connections have many turns.
  for (let turn = 0; turn < 5; turn += 1)
    await once(open(ask('/', `${HOST}connection: close\r\n`)).resume(), 'close')
  expect(parsed()).toBe(3 + 5)
  letGo()
  await expect.poll(sender.answers).toHaveLength(5)
})

it('other connections have a turn between two pipelined requests', async () => {
  const order: string[] = []
  const { open } = await start((_, outgoing) => {
    order.push('request')
    setImmediate().then(() => order.push('turn'))
    outgoing.end()
  })
  const sender = open(ask().repeat(3)).resume()
  await expect.poll(sender.answers).toHaveLength(3)
  expect(order.slice(0, 5)).toEqual(['request', 'turn', 'request', 'turn', 'request'])
})

it('a connection is cut when 10,000 requests wait on all connections, whatever requests', async () => {
  const { open, letGo } = await start()
  const patient = open(ask().repeat(12_000)).resume()
  await expect.poll(patient.answers).toHaveLength(12_000)
  // Each kind alone would leave the others below the limit.
  const kinds = [HOST, '', `${HOST}expect: more\r\n`]
  const crowd = Array.from({ length: 12 }, (_, at) =>
    open(ask('/held') + ask('/', kinds[at % 3]).repeat(1_000)).resume(),
  )
  await Promise.race(crowd.map((sender) => once(sender, 'close')))
  for (const sender of crowd) sender.destroy()
  letGo()
  // They no longer wait.
  const next = open(ask('/held') + ask()).resume()
  await expect.poll(next.answers).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200'])
})

it('a peer that reads nothing of its response is cut', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<boolean>()
  const { open } = await start((_, outgoing) => {
    outgoing.on('close', () => resolve(outgoing.writableFinished)).end(Buffer.alloc(32_000_000))
  }, 50)
  open(ask())
  expect(await closed).toBe(false)
})

it('a peer that waits longer than that for its response is not cut', async () => {
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
])('a peer that names %s gets its response', async (_, version, more, expected) => {
  const { open } = await start()
  const sender = open(`GET / HTTP/${version}\r\nconnection: close\r\n${more}\r\n`).resume()
  await once(sender, 'close')
  expect(sender.answers()).toEqual([expected])
})

it('a server that drains waits for the end of a response that has begun', async () => {
  const begun = Promise.withResolvers<ServerResponse>()
  const { open, drain } = await start((_, outgoing) => {
    outgoing.write('one ')
    begun.resolve(outgoing)
  })
  const reader = open(ask()).resume()
  const left = once(reader, 'close')
  const response = await begun.promise
  await expect.poll(reader.received).toContain('one ')
  await drain.leave(0)
  const closed = drain.close()
  await setImmediate()
  response.end('two')
  await Promise.all([left, closed])
  expect(reader.received()).toContain('two')
})
