import type { RequestListener, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDrain } from '../src/runtimes/drain.ts'
import { createOneAtATime } from '../src/runtimes/one-at-a-time.ts'
import { portOf } from './raw-server.ts'

const HOST = 'host: host.test\r\n'
const ask = (path = '/', more = HOST, version = '1.1') => `GET ${path} HTTP/${version}\r\n${more}\r\n`
const close = 'connection: close\r\n'

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
  /** Opens a connection, which reads what comes. */
  function open(text = '') {
    const socket = connect(port, '127.0.0.1')
    const left = new Promise<void>((resolve) => socket.on('error', () => {}).once('close', () => resolve()))
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.write(text)
    const statuses = () => received.match(/(?<=HTTP\/1.1 )\d+/g)?.map(Number) ?? []
    return Object.assign(socket, { statuses, left, received: () => received })
  }
  return { open, letGo, parsed: () => parsed, drain: createDrain(server, { hasWaiting }) }
}

it('a connection on which a request waits is not read until the last one begins', async () => {
  const { open, letGo, parsed } = await start()
  const sender = open(ask('/held') + ask() + ask())
  await expect.poll(parsed).toBe(3)
  await new Promise<void>((resolve) => sender.write(ask() + ask(), () => resolve()))
  // Other connections have many turns.
  for (let turn = 0; turn < 5; turn += 1) await open(ask('/', HOST + close)).left
  expect(parsed()).toBe(3 + 5)
  letGo()
  await expect.poll(sender.statuses).toHaveLength(5)
})

it('other connections have a turn between two pipelined requests', async () => {
  const order: string[] = []
  const { open } = await start((_, outgoing) => {
    order.push('request')
    setImmediate().then(() => order.push('turn'))
    outgoing.end()
  })
  await expect.poll(open(ask().repeat(3)).statuses).toHaveLength(3)
  expect(order.slice(0, 5)).toEqual(['request', 'turn', 'request', 'turn', 'request'])
})

it('a connection is cut when 10,000 requests wait on all connections, whatever requests', async () => {
  const { open, letGo } = await start()
  await expect.poll(open(ask().repeat(12_000)).statuses).toHaveLength(12_000)
  // Each kind alone would leave the others below the limit.
  const kinds = [HOST, '', `${HOST}expect: more\r\n`]
  const crowd = Array.from({ length: 12 }, (_, at) =>
    open(ask('/held') + ask('/', kinds[at % 3]).repeat(1_000)),
  )
  await Promise.race(crowd.map(({ left }) => left))
  for (const sender of crowd) sender.destroy()
  letGo()
  // They no longer wait.
  await expect.poll(open(ask('/held') + ask()).statuses).toEqual([200, 200])
})

it('a peer that reads nothing of its response is cut', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<boolean>()
  const { open } = await start((_, outgoing) => {
    outgoing.on('close', () => resolve(outgoing.writableFinished)).end(Buffer.alloc(32_000_000))
  }, 50)
  open(ask()).pause()
  expect(await closed).toBe(false)
})

it('a peer that waits longer than that for its response is not cut', async () => {
  const { open, letGo, parsed } = await start(undefined, 50)
  const sender = open(ask('/held'))
  await expect.poll(parsed).toBe(1)
  // The server closes a connection without a request after the same time.
  await open().left
  letGo()
  await expect.poll(sender.statuses).toEqual([200])
})

it.each([
  ['no host in HTTP/1.0', '1.0', '', 200],
  ['no host in HTTP/1.1', '1.1', '', 400],
  ['two hosts', '1.1', 'host: a.test\r\nHost: b.test\r\n', 400],
])('a peer that names %s gets its response', async (_, version, more, status) => {
  const { open } = await start()
  const sender = open(ask('/', close + more, version))
  await sender.left
  expect(sender.statuses()).toEqual([status])
})

it('a server that drains waits for the end of a response that has begun', async () => {
  const begun = Promise.withResolvers<ServerResponse>()
  const { open, drain } = await start((_, outgoing) => {
    outgoing.write('one ')
    begun.resolve(outgoing)
  })
  const reader = open(ask())
  const response = await begun.promise
  await expect.poll(reader.received).toContain('one ')
  await drain.leave(0)
  const closed = drain.close()
  await setImmediate()
  response.end('two')
  await Promise.all([reader.left, closed])
  expect(reader.received()).toContain('two')
})

it('a server that drains waits five seconds for a response that does not end, and cuts it', async () => {
  const { open, drain } = await start((_, outgoing) => outgoing.write('one '))
  const reader = open(ask())
  await expect.poll(reader.received).toContain('one ')
  await drain.leave(0)
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const closed = drain.close()
  vi.advanceTimersByTime(5_000)
  await Promise.all([reader.left, closed])
})
