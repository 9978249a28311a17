/** How a host shares itself out: events under way, memory for them and for bodies that arrive, and turns of its loop. */
import {
  createConcurrencyLimit,
  createVerifier,
  type HandlerContext,
  type HandlerDependencies,
} from '@org/core'
import { breathe } from '@org/core/http'
import { deliver } from '@org/core/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { calling, clock, createHost, deployment, type ProviderCall, post, readProblem } from './fixtures.ts'

const MEBIBYTE = 1024 * 1024
const overloaded = { status: 503, body: { code: 'overloaded', retryable: true } }
const health = { name: 'HEALTH_CHECK' }
const healthOf = (id: string, owner?: string) => ({ ...health, deployment: { id, owner, inputs: {} } })
/** An event with a long field that nobody reads. */
const heavy = (id: string, mebibytes: number) => ({
  ...healthOf(id),
  padding: 'x'.repeat(mebibytes * MEBIBYTE),
})

/** A host with a limit of events, whose provider and servers hold every event until `finish`. */
function createBusyHost(most: number, options: Parameters<typeof createHost>[0] = {}) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const provider = () => promise
  const limit = createConcurrencyLimit(most)
  const egress = { refuse: () => undefined, fetch: () => promise.then(() => new Response()) }
  const { handle } = createHost({ limit, provider, egress, bodyLimit: 10 * MEBIBYTE, ...options })
  const underWay: ReturnType<typeof deliver>[] = []
  return {
    send: (event: object) => deliver(handle, event),
    async hold(...events: object[]) {
      underWay.push(...events.map((event) => deliver(handle, event)))
      await expect.poll(() => limit.active).toBe(underWay.length)
    },
    /** All that were held succeed. */
    async finish() {
      resolve()
      for (const { status } of await Promise.all(underWay)) expect(status).toBe(200)
    },
  }
}

describe('the limit of events under way', () => {
  it.each([
    ['one deployment', healthOf('dep_1'), healthOf('dep_1'), 'of deployment dep_1'],
    ['all deployments of one customer', healthOf('dep_1', 'ada'), healthOf('dep_3', 'ada'), 'of owner ada'],
    ['a route without a deployment', calling('count'), health, 'of /greeter without a deployment'],
  ])(
    'leaves %s a quarter and the rest to others, and answers a challenge at any number',
    async (_, event, another, whose) => {
      const host = createBusyHost(8)
      await host.hold(event, another)
      const refused = await host.send(event)
      const detail = `This host has too many events ${whose} under way.`
      expect(refused).toMatchObject({ status: 503, body: { ...overloaded.body, detail } })
      expect(refused.headers.get('retry-after')).toBe('1')
      // Also to a deployment that has the name of the owner.
      const others = [healthOf('ada'), healthOf('dep_3', 'bob')]
      await host.hold(...others, ...others, healthOf('dep_4'), healthOf('dep_5'))
      expect(await host.send(healthOf('dep_6'))).toMatchObject(overloaded)
      const challenge = { name: 'WEBHOOK_CHALLENGE', challenge: 'c', deployment }
      expect(await host.send(challenge)).toMatchObject({ status: 200, body: { challenge: 'c' } })
      expect(await host.send({ name: 'WEBHOOK_CHALLENGE' })).toMatchObject({ body: { status: 'ok' } })
      await host.finish()
      expect(await host.send(event)).toMatchObject({ status: 200 })
    },
  )

  it('leaves servers of deployments, which may be slow, a quarter together, and less to each and to an owner', async () => {
    const provider = async ({ action }: ProviderCall, context: HandlerContext) => {
      if (action === 'ping') await context.egress.fetch(`https://${context.deployment?.id}.test`)
    }
    const host = createBusyHost(64, { provider })
    // Two events for one server, four for one owner, and sixteen for all.
    await host.hold(healthOf('s1', 'ada'), healthOf('s1', 'ada'), healthOf('s2', 'ada'))
    expect(await host.send(healthOf('s1', 'bob'))).toMatchObject(overloaded)
    await host.hold(healthOf('s3', 'ada'))
    expect(await host.send(healthOf('s4', 'ada'))).toMatchObject(overloaded)
    for (const owner of ['bob', 'cid', 'dan'])
      await host.hold(...[1, 2, 3, 4].map((at) => healthOf(`${owner}${at}`, owner)))
    expect(await host.send(healthOf('s4', 'eve'))).toMatchObject(overloaded)
    expect(await host.send(calling('count'))).toMatchObject({ status: 200 })
    await host.finish()
    expect(await host.send(healthOf('s1', 'ada'))).toMatchObject({ status: 200 })
  })
})

describe('the memory for events under way', () => {
  it('refuses a large one at once while it is full, and takes those of 16 KiB, and large ones again later', async () => {
    const host = createBusyHost(32)
    await host.hold(...['a', 'b', 'c', 'd', 'e'].map((id) => heavy(id, 3)))
    const refused = await host.send(heavy('f', 2))
    expect(refused).toMatchObject(overloaded)
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(heavy('f', 1 / 64))
    await host.finish()
    expect(await host.send(heavy('f', 2))).toMatchObject({ status: 200 })
  })

  it('leaves one deployment half, and counts each value of a list for more than its bytes', async () => {
    const host = createBusyHost(32)
    await host.hold(heavy('a', 9))
    expect(await host.send(heavy('a', 1))).toMatchObject(overloaded)
    const list = { ...healthOf('b'), padding: Array(50_000).fill(0) }
    await host.hold(heavy('a', 1 / 64), list)
    expect(await host.send(list)).toMatchObject(overloaded)
    await host.finish()
  })
})

const spaces = new Uint8Array(MEBIBYTE).fill(0x20)
const challenge = new TextEncoder().encode('{"name":"WEBHOOK_CHALLENGE"}')

/** A host that takes bodies of 64 MiB, which is all that it has memory for. They arrive as the test says. */
function createReader(dependencies: Partial<HandlerDependencies> = {}) {
  const { now, pass } = clock()
  const limit = createConcurrencyLimit(8)
  const peer = (request: Request) => request.headers.get('x-peer') ?? undefined
  const { handle, lines } = createHost({ limit, now, bodyLimit: 64 * MEBIBYTE, peer, ...dependencies })

  /** Begins a body of an address with so many MiB. */
  async function begin(address: string, mebibytes: number, headers: Record<string, string> = {}) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const response = post(handle, readable, { 'x-peer': address, ...headers })
    /** Resolves when the host has read it, or reads no more. */
    const write = (bytes: Uint8Array) => writer.write(bytes).catch(() => {})
    async function send(mebibytes: number) {
      for (let left = mebibytes * MEBIBYTE; left > 0; left -= MEBIBYTE) await write(spaces.subarray(0, left))
    }
    /** Sends the rest, an event. Resolves with the status. */
    async function finish() {
      await write(challenge)
      await writer.close().catch(() => {})
      return (await response).status
    }
    /** Resolves with the status: 503 if it gave way, else 400. */
    async function breakOff() {
      await writer.abort(new Error('The connection breaks.'))
      return (await response).status
    }
    await send(mebibytes)
    return { response, send, finish, breakOff }
  }
  type Body = Awaited<ReturnType<typeof begin>>
  const breakOff = (...bodies: Body[]) => Promise.all(bodies.map((body) => body.breakOff()))
  return { begin, breakOff, lines, pass }
}

describe('the memory for bodies that arrive', () => {
  it('goes to a body that arrives in time, from one that came to a halt', async () => {
    const { begin, pass, lines } = createReader()
    const [inTime, givesWay, stays] = [await begin('a', 30), await begin('b', 20), await begin('c', 13.9)]
    pass(2_100)
    await inTime.send(1)
    const problem = await readProblem(await givesWay.response)
    expect(problem).toMatchObject({ status: 503, code: 'overloaded', retryable: true })
    expect(problem.headers.get('retry-after')).toBe('1')
    expect(lines).toMatchObject([{ facts: { code: 'overloaded', peer: 'b' } }])
    expect([await inTime.finish(), await stays.finish()]).toEqual([200, 200])
  })

  it('is taken from the slowest body, if all arrive in time', async () => {
    const { begin, pass, breakOff } = createReader()
    const bodies = [await begin('a', 25)]
    for (const mebibytes of [34, 1, 10]) {
      pass(200)
      bodies.push(await begin('b', mebibytes))
    }
    expect(await breakOff(...bodies)).toEqual([503, 400, 400, 400])
  })

  it('is taken from strangers before an address of which an event was signed', async () => {
    const { begin, breakOff } = createReader()
    expect(await (await begin('a', 0)).finish()).toBe(200)
    const known = await begin('a', 40)
    const strangers = [await begin('b', 8), await begin('c', 8), await begin('d', 8)]
    await known.send(1)
    expect(await breakOff(known, ...strangers)).toEqual([400, 503, 400, 400])
  })

  it('is not taken from a body of which a first packet has just arrived', async () => {
    const { begin, pass } = createReader()
    const before = [await begin('a', 31.81), await begin('a', 31.81)]
    pass(40_000)
    for (const body of before) await body.send(0.15)
    const beginning = await begin('a', 0.001)
    pass(50)
    await before[0]?.send(0.15)
    expect(await beginning.finish()).toBe(200)
  })

  it('is not taken from a body of 64 KiB a second by slower ones, from however many addresses', async () => {
    const { begin, pass, breakOff } = createReader()
    const body = await begin('a', 1 / MEBIBYTE)
    const slow = await Promise.all(Array.from({ length: 128 }, (_, at) => begin(`b${at}`, 0.4995)))
    // It was slow once.
    pass(60_000)
    for (let second = 0; second < 30; second += 1) {
      await body.send(1 / 16)
      pass(1_000)
      for (const other of slow) await other.send(16 / MEBIBYTE)
    }
    expect(await body.finish()).toBe(200)
    expect(await breakOff(...slow)).toContain(503)
  })

  it('is not taken from a complete body while its signature is checked', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { begin } = createReader({
      verify: (headers) => async () => (headers.has('x-held') ? promise : undefined),
    })
    const held = (await begin('a', 40, { 'x-held': '' })).finish()
    // The event of the second one needs more than its body.
    for (const mebibytes of [30, 10]) expect(await (await begin('b', mebibytes)).finish()).toBe(503)
    resolve()
    expect(await held).toBe(200)
  })

  it.each([
    [258, 2],
    [256, 0],
  ])('counts of %i short bodies at a time %i', async (count, givenUp) => {
    const { begin, pass } = createReader({ trustContentLength: true })
    const headers = { 'content-length': String(1 + challenge.length) }
    const short = await Promise.all(Array.from({ length: count }, () => begin('a', 1 / MEBIBYTE, headers)))
    pass(3_000)
    expect(await (await begin('b', 64)).breakOff()).toBe(400)
    const statuses = await Promise.all(short.map((body) => body.finish()))
    expect(statuses.filter((status) => status === 503)).toHaveLength(givenUp)
  })

  it('is free again when a body breaks off, or has a forged signature', async () => {
    const verify = createVerifier({ secrets: [`whsec_${btoa('the secret of this route')}`] })
    const { begin } = createReader({ verify })
    const now = String(Math.floor(Date.now() / 1000))
    const forged = { 'webhook-id': 'evt_1', 'webhook-timestamp': now, 'webhook-signature': 'v1,abc' }
    expect(await (await begin('a', 40, forged)).breakOff()).toBe(400)
    for (const _ of [1, 2]) expect(await (await begin('a', 40, forged)).finish()).toBe(401)
  })
})

describe('the event loop', () => {
  it('parses large bodies that arrive together one in a turn', async () => {
    const { handle } = createHost()
    const body = JSON.stringify({ ...health, more: 'x'.repeat(300_000) })
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const parsed = () => parse.mock.calls.filter(([text]) => text === body).length
    const isOver = Promise.all(Array.from({ length: 8 }, () => post(handle, body))).then(() => true)
    const inTurns = []
    for (let before = 0, ended = false; !ended; before = parsed()) {
      ended = await Promise.race([isOver, new Promise<false>((resolve) => setImmediate(resolve, false))])
      inTurns.push(parsed() - before)
    }
    expect([Math.max(...inTurns), inTurns.filter((count) => count > 0).length]).toEqual([1, 8])
  })

  it('is waited for without a timer, and not at all where there are no channels', async () => {
    onTestFinished(() => void vi.useRealTimers().unstubAllGlobals())
    vi.useFakeTimers()
    await breathe()
    vi.stubGlobal('MessageChannel', undefined)
    const again: string = '../src/breathe.ts?again'
    const other: typeof import('../src/breathe.ts') = await import(again)
    await other.breathe()
  })
})
