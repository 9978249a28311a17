import { createConcurrencyLimit, createWebhookHandler, functionArguments } from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { bare, calling, createHost, slowProvider } from './fixtures.ts'

const { functionCall, name } = calling('count')
const readOf = (id: string) => ({ name, functionCall, deployment: { id, inputs: {} } })
const health = (id: string) => ({ name: 'HEALTH_CHECK', deployment: { id, inputs: {} } })
const overloaded = { status: 503, body: { code: 'overloaded', retryable: true } }

/** A host with a limit of eight events, and a provider that holds every call until `finish`. */
function createBusyHost() {
  const { provider, finish } = slowProvider()
  const limit = createConcurrencyLimit(8)
  const host = createHost({ limit, provider })
  const underWay: ReturnType<typeof deliver>[] = []
  return {
    send: (event: object) => deliver(host.handle, event),
    /** Delivers events that the provider holds. */
    async hold(...events: object[]) {
      const before = limit.active
      underWay.push(...events.map((event) => deliver(host.handle, event)))
      await expect.poll(() => limit.active).toBe(before + events.length)
    },
    async finish() {
      finish()
      return Promise.all(underWay)
    },
  }
}

describe('the concurrency limit of a host', () => {
  it('leaves one deployment a quarter, and lets others pass', async () => {
    const host = createBusyHost()
    await host.hold(readOf('dep_1'), readOf('dep_1'))
    const refused = await host.send(readOf('dep_1'))
    expect(refused).toMatchObject(overloaded)
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(readOf('dep_2'))
    for (const { status } of await host.finish()) expect(status).toBe(200)
    expect(await host.send(readOf('dep_1'))).toMatchObject({ status: 200 })
  })

  it('leaves the events of a route without a deployment a quarter', async () => {
    const host = createBusyHost()
    await host.hold(calling('count'), calling('count'))
    expect(await host.send(calling('count'))).toMatchObject(overloaded)
    await host.hold(readOf('dep_1'))
    await host.finish()
  })

  it('counts health checks like all other events', async () => {
    const host = createBusyHost()
    await host.hold(health('dep_1'), health('dep_1'))
    expect(await host.send(health('dep_1'))).toMatchObject(overloaded)
    await host.finish()
  })

  it('answers a challenge while no other event is admitted', async () => {
    const host = createBusyHost()
    const ids = ['dep_1', 'dep_2', 'dep_3', 'dep_4']
    await host.hold(...ids.flatMap((id) => [readOf(id), health(id)]))
    expect(await host.send(readOf('dep_5'))).toMatchObject(overloaded)
    const challenge = { name: 'WEBHOOK_CHALLENGE', challenge: 'c', deployment: { id: 'dep_1' } }
    expect(await host.send(challenge)).toMatchObject({ status: 200, body: { challenge: 'c' } })
    await host.finish()
  })
})

const MEBIBYTE = 1024 * 1024
/** An event with a long field that nobody reads. */
const heavy = (id: string, megabytes: number) => ({
  ...readOf(id),
  padding: 'x'.repeat(megabytes * MEBIBYTE),
})

describe('the memory of a host', () => {
  afterEach(() => void vi.useRealTimers())

  it('leaves the large events of one deployment a quarter, and refuses no smaller ones', async () => {
    const host = createBusyHost()
    await host.hold(heavy('dep_1', 4))
    const refused = await host.send(heavy('dep_1', 2))
    expect(refused).toMatchObject(overloaded)
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(readOf('dep_1'), heavy('dep_2', 4))
    for (const { status } of await host.finish()) expect(status).toBe(200)
    expect(await host.send(heavy('dep_1', 4))).toMatchObject({ status: 200 })
  })

  it('counts the values of an event, of which each takes more than its bytes', async () => {
    const host = createBusyHost()
    const list = (count: number) => ({ ...readOf('dep_1'), padding: Array(count).fill(0) })
    await host.hold(list(30_000))
    expect(await host.send(list(30_000))).toMatchObject(overloaded)
    await host.finish()
  })

  it('lets a large event wait for those of others, for five seconds at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const host = createBusyHost()
    await host.hold(heavy('dep_1', 6), heavy('dep_2', 3))
    await host.hold(heavy('dep_3', 4))
    await vi.advanceTimersByTimeAsync(5_000)
    const [, , refused] = await host.finish()
    expect(refused).toMatchObject(overloaded)
    expect(await host.send(heavy('dep_3', 4))).toMatchObject({ status: 200 })
  })

  it('reads no second body of more than 5 MiB until the event of the first is over', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const host = createBusyHost()
    await host.hold(heavy('dep_1', 6))
    let refused: unknown
    void host.send(heavy('dep_2', 6)).then((response) => (refused = response))
    await expect
      .poll(async () => {
        await vi.advanceTimersByTimeAsync(5_000)
        return refused
      })
      .toMatchObject(overloaded)
    await host.finish()
    expect(await host.send(heavy('dep_2', 6))).toMatchObject({ status: 200 })
  })

  it('counts a large event until its response has left, for five seconds at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const text = 'é😀'.repeat(MEBIBYTE / 2)
    const repeat = { description: 'x', effect: false, arguments: functionArguments({}), result: z.string() }
    const definition = { ...bare, events: ['FUNCTION_CALL'] as const, functions: { repeat } }
    const limit = createConcurrencyLimit(8)
    const platform = connectPlatform(createPlatformEmulator().fetch)
    const dependencies = { limit, platform, logger: () => {} }
    const handle = createWebhookHandler(definition, { functions: { repeat: async () => text } }, dependencies)
    const body = JSON.stringify({ ...calling('repeat'), padding: 'x'.repeat(2 * MEBIBYTE) })
    const headers = { 'content-type': 'application/json' }
    const send = async () =>
      handle(new Request('https://host.test/webhook', { method: 'POST', headers, body }))
    const first = await send()
    expect((await send()).status).toBe(503)
    expect(await first.json()).toEqual({ result: text })
    const unread = await send()
    expect([unread.status, (await send()).status]).toEqual([200, 503])
    await vi.advanceTimersByTimeAsync(5_000)
    expect((await send()).status).toBe(200)
  })

  it('reads one of the longest bodies at a time, while shorter ones pass', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { handle } = createHost({ limit: createConcurrencyLimit(8) })
    const slow = new TransformStream<Uint8Array, Uint8Array>()
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: slow.readable, duplex: 'half' }
    const unfinished = handle(new Request('https://host.test/fixture/webhook', init))
    const writer = slow.writable.getWriter()
    for (let sent = 0; sent < 2; sent += 1) await writer.write(new Uint8Array(MEBIBYTE).fill(0x20))
    expect(
      await deliver(handle, { name: 'WEBHOOK_CHALLENGE', padding: 'x'.repeat(MEBIBYTE / 2) }),
    ).toMatchObject({
      status: 200,
    })
    const second = deliver(handle, heavy('dep_1', 2))
    const isOver = vi.fn()
    void second.then(isOver)
    while (!isOver.mock.calls.length) await vi.advanceTimersByTimeAsync(1_000)
    expect(await second).toMatchObject(overloaded)
    await writer.write(new TextEncoder().encode('{"name":"WEBHOOK_CHALLENGE"}'))
    await writer.close()
    expect((await unfinished).status).toBe(200)
  })
})
