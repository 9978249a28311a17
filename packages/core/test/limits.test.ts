import { createConcurrencyLimit, type HandlerContext } from '@org/core'
import { breathe } from '@org/core/http'
import { deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { calling, createHost, deployment, type ProviderCall, post } from './fixtures.ts'

const { functionCall, name } = calling('count')
const readOf = (id: string) => ({ name, functionCall, deployment: { id, inputs: {} } })
const health = (id: string) => ({ name: 'HEALTH_CHECK', deployment: { id, inputs: {} } })
const MEBIBYTE = 1024 * 1024
const overloaded = { status: 503, body: { code: 'overloaded', retryable: true } }

/** A host with a limit of events, and a provider and servers that hold every call until `finish`. */
function createBusyHost(most: number, options: Parameters<typeof createHost>[0] = {}) {
  const { promise, resolve: finish } = Promise.withResolvers<void>()
  const provider = () => promise
  const limit = createConcurrencyLimit(most)
  const egress = { refuse: () => undefined, fetch: () => provider().then(() => new Response()) }
  const host = createHost({ limit, provider, egress, bodyLimit: 10 * MEBIBYTE, ...options })
  const underWay: ReturnType<typeof deliver>[] = []
  return {
    send: (event: object) => deliver(host.handle, event),
    /** Delivers events that the provider holds. */
    async hold(...events: object[]) {
      underWay.push(...events.map((event) => deliver(host.handle, event)))
      await expect.poll(() => limit.active).toBe(underWay.length)
    },
    /** Resolves with the statuses. */
    async finish() {
      finish()
      return new Set((await Promise.all(underWay)).map(({ status }) => status))
    },
  }
}

describe('the concurrency limit of a host', () => {
  const owned = (id: string, owner: string) => ({ ...readOf(id), deployment: { id, owner, inputs: {} } })
  it.each([
    ['one deployment', readOf('dep_1'), readOf('dep_1'), 'of deployment dep_1'],
    ['the health checks of one deployment', health('dep_1'), health('dep_1'), 'of deployment dep_1'],
    ['all deployments of one customer', owned('dep_1', 'ada'), owned('dep_3', 'ada'), 'of owner ada'],
    ['a route without a deployment', calling('count'), calling('count'), 'of /greeter without a deployment'],
  ])('leaves %s a quarter, and lets others pass', async (_, event, another, whose) => {
    const host = createBusyHost(8)
    await host.hold(event, another)
    const refused = await host.send(event)
    expect(refused).toMatchObject(overloaded)
    expect(refused.body).toMatchObject({ detail: `This host has too many events ${whose} under way.` })
    expect(refused.headers.get('retry-after')).toBe('1')
    // Also a deployment that has the name of the owner.
    await host.hold(readOf('dep_2'), owned('dep_3', 'bob'), readOf('ada'))
    expect(await host.finish()).toEqual(new Set([200]))
    expect(await host.send(event)).toMatchObject({ status: 200 })
  })

  it('answers a challenge while no other event is admitted', async () => {
    const host = createBusyHost(8)
    await host.hold(...[1, 2, 3, 4].flatMap((id) => [readOf(`dep_${id}`), health(`dep_${id}`)]))
    expect(await host.send(readOf('dep_5'))).toMatchObject(overloaded)
    const challenge = { name: 'WEBHOOK_CHALLENGE', challenge: 'c', deployment }
    expect(await host.send(challenge)).toMatchObject({ status: 200, body: { challenge: 'c' } })
    await host.finish()
  })
})

it('servers of deployments that are slow leave most of a host to others', async () => {
  const provider = async ({ action }: ProviderCall, context: HandlerContext) => {
    if (action === 'ping') await context.egress.fetch(`https://${context.deployment?.id}.test`)
  }
  const host = createBusyHost(64, { provider })
  const call = (owner: string, id: string) => ({
    name: 'HEALTH_CHECK',
    deployment: { id, owner, inputs: {} },
  })
  // Two events for one server, four for one owner, and sixteen for all.
  await host.hold(...['s1', 's1', 's2'].map((server) => call('ada', server)))
  expect(await host.send(call('bob', 's1'))).toMatchObject(overloaded)
  await host.hold(call('ada', 's3'))
  expect(await host.send(call('ada', 's4'))).toMatchObject(overloaded)
  for (const owner of ['bob', 'cid', 'dan'])
    await host.hold(...[1, 2, 3, 4].map((at) => call(owner, `${owner}${at}`)))
  expect(await host.send(call('eve', 's4'))).toMatchObject(overloaded)
  expect(await host.send(readOf('dep_17'))).toMatchObject({ status: 200 })
  expect(await host.finish()).toEqual(new Set([200]))
  expect(await host.send(call('ada', 's1'))).toMatchObject({ status: 200 })
})

describe('the memory for events under way', () => {
  /** An event with a long field that nobody reads. */
  const heavy = (id: string, mebibytes: number) => ({
    ...readOf(id),
    padding: 'x'.repeat(mebibytes * MEBIBYTE),
  })

  it('refuses a large one at once while it is full, and takes those of 16 KiB, and large ones again later', async () => {
    const host = createBusyHost(32)
    await host.hold(...['a', 'b', 'c', 'd', 'e'].map((id) => heavy(id, 3)))
    const refused = await host.send(heavy('f', 2))
    expect(refused).toMatchObject(overloaded)
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(heavy('f', 1 / 64))
    expect(await host.finish()).toEqual(new Set([200]))
    expect(await host.send(heavy('f', 2))).toMatchObject({ status: 200 })
  })

  it('leaves one deployment half, and refuses no smaller ones', async () => {
    const host = createBusyHost(32)
    await host.hold(heavy('a', 9))
    expect(await host.send(heavy('a', 1))).toMatchObject(overloaded)
    await host.hold(heavy('a', 1 / 64), heavy('b', 5), heavy('b', 2))
    expect(await host.send(heavy('b', 2))).toMatchObject(overloaded)
    expect(await host.finish()).toEqual(new Set([200]))
  })

  it('counts the values of an event, of which each takes more than its bytes', async () => {
    const host = createBusyHost(32)
    const list = { ...readOf('a'), padding: Array(50_000).fill(0) }
    await host.hold(list)
    expect(await host.send(list)).toMatchObject(overloaded)
    await host.finish()
  })
})

describe('the event loop', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  it('parses large bodies that arrive together one in a turn', async () => {
    const { handle } = createHost()
    const body = JSON.stringify({ name: 'HEALTH_CHECK', deployment, more: 'x'.repeat(300_000) })
    const parse = vi.spyOn(JSON, 'parse')
    const parsed = () => parse.mock.calls.filter(([text]) => text === body).length
    const isOver = Promise.all(Array.from({ length: 8 }, () => post(handle, body))).then(() => true)
    const inTurns = []
    for (let before = 0, ended = false; !ended; before = parsed()) {
      ended = await Promise.race([isOver, new Promise<false>((resolve) => setImmediate(resolve, false))])
      inTurns.push(parsed() - before)
    }
    parse.mockRestore()
    expect([Math.max(...inTurns), inTurns.filter((count) => count > 0).length]).toEqual([1, 8])
  })

  it('is waited for without a timer, and not at all where there are no channels', async () => {
    vi.useFakeTimers()
    await expect(breathe()).resolves.toBeUndefined()
    vi.stubGlobal('MessageChannel', undefined)
    const again: string = '../src/breathe.ts?again'
    const other: typeof import('../src/breathe.ts') = await import(again)
    await expect(other.breathe()).resolves.toBeUndefined()
  })
})
