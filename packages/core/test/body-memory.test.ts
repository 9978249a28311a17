/** The memory that a host has for bodies, with senders whose bodies arrive as the test says. */
import { createConcurrencyLimit, createVerifier, type HandlerDependencies } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, clock, createHost, readProblem, slowProvider } from './fixtures.ts'

const MEBIBYTE = 1024 * 1024
const overloaded = { status: 503, body: { code: 'overloaded', retryable: true } }
const spaces = new Uint8Array(MEBIBYTE).fill(0x20)
const challenge = new TextEncoder().encode('{"name":"WEBHOOK_CHALLENGE"}')

/** A host that takes bodies of 64 MiB, which is all that it has memory for. */
function createReader(dependencies: Partial<HandlerDependencies> = {}) {
  const time = clock()
  const { handle, lines } = createHost({
    limit: createConcurrencyLimit(8),
    now: time.now,
    bodyLimit: 64 * MEBIBYTE,
    peer: (request) => request.headers.get('x-peer') ?? undefined,
    ...dependencies,
  })
  return {
    lines,
    pass: time.pass,
    /** Begins a body from an address. */
    begin(address: string, given: HeadersInit = {}) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const headers = { 'content-type': 'application/json', 'x-peer': address, ...given }
      const init = { method: 'POST', headers, body: readable, duplex: 'half' }
      const response = handle(new Request('http://host.test/greeter/webhook', init))
      const body = {
        response,
        /** Resolves when the host has read the bytes, or reads no more. */
        async send(bytes: number) {
          for (let left = bytes; left > 0; left -= MEBIBYTE)
            await writer.write(spaces.subarray(0, left)).catch(() => {})
          return body
        },
        /** Sends the rest: an event. Resolves with the status. */
        async finish() {
          await writer.write(challenge).catch(() => {})
          await writer.close().catch(() => {})
          return (await response).status
        },
        /** Whether the host wants no more of it. */
        isCancelled: writer.closed.then(
          () => false,
          () => true,
        ),
        /** Resolves with the status. */
        async breakOff() {
          await writer.abort(new Error('The connection breaks.'))
          return (await response).status
        },
      }
      return body
    },
  }
}

/** Finishes bodies one after the other, and resolves with the status of each. */
async function finish(bodies: readonly { finish: () => Promise<number> }[]) {
  const statuses = []
  for (const body of bodies) statuses.push(await body.finish())
  return statuses
}

describe('the memory for bodies that arrive', () => {
  it('is not reserved for what a request announces', async () => {
    const { begin } = createReader()
    const headers = { 'content-length': String(64 * MEBIBYTE) }
    const announced = [await begin('a', headers).send(1), await begin('a', headers).send(1)]
    expect(await (await begin('a').send(10 * MEBIBYTE)).finish()).toBe(200)
    expect(await finish(announced)).toEqual([200, 200])
  })

  it('goes to a body that arrives in time, from one that came to a halt', async () => {
    const { begin, pass, lines } = createReader()
    const inTime = await begin('a').send(30 * MEBIBYTE)
    const givesWay = await begin('b').send(20 * MEBIBYTE)
    const stays = await begin('c').send(13.9 * MEBIBYTE)
    pass(2_100)
    await inTime.send(MEBIBYTE)
    const problem = await readProblem(await givesWay.response)
    expect(problem).toMatchObject({ status: 503, code: 'overloaded', retryable: true })
    expect(problem.headers.get('retry-after')).toBe('1')
    expect(await givesWay.isCancelled).toBe(true)
    expect(lines).toMatchObject([{ facts: { code: 'overloaded', peer: 'b' } }])
    expect(await finish([inTime, stays])).toEqual([200, 200])
  })

  it('is taken from the address that holds the most, and there from the slowest body', async () => {
    const { begin, pass } = createReader()
    const first = await begin('a').send(24 * MEBIBYTE)
    pass(400)
    const sizes: [string, number][] = [
      ['a', 10],
      ['b', 25],
      ['c', 1],
    ]
    const others = await Promise.all(sizes.map(([address, size]) => begin(address).send(size * MEBIBYTE)))
    pass(200)
    await begin('d').send(10 * MEBIBYTE)
    const statuses = await Promise.all([first, ...others].map((body) => body.breakOff()))
    expect(statuses).toEqual([503, 400, 400, 400])
  })

  it('is taken from strangers before an address of which an event was signed', async () => {
    const { begin } = createReader()
    expect(await begin('a').finish()).toBe(200)
    const known = await begin('a').send(40 * MEBIBYTE)
    const strangers = await Promise.all([1, 2, 3].map((at) => begin(`b${at}`).send(8 * MEBIBYTE)))
    await known.send(MEBIBYTE)
    const statuses = await Promise.all([known, ...strangers].map((body) => body.breakOff()))
    expect(statuses).toEqual([400, 503, 400, 400])
  })

  it('is not taken from a body of which a first packet has just arrived', async () => {
    const { begin, pass } = createReader()
    const before = Array.from({ length: 2 }, () => begin('a').send(32 * MEBIBYTE - 200_000))
    const [filling] = await Promise.all(before)
    pass(40_000)
    for (const body of await Promise.all(before)) await body.send(150_000)
    const beginning = await begin('a').send(1_000)
    pass(50)
    await filling?.send(150_000)
    expect(await beginning.finish()).toBe(200)
  })

  it('is not taken from a body of 64 KiB a second by slower ones, from however many addresses', async () => {
    const { begin, pass } = createReader()
    const body = await begin('a').send(1)
    const others = Array.from({ length: 128 }, (_, at) => begin(`b${at}`).send(MEBIBYTE / 2 - 500))
    const slow = await Promise.all(others)
    // It was slow once.
    pass(60_000)
    for (let second = 0; second < 30; second += 1) {
      await body.send(64 * 1024)
      pass(1_000)
      for (const other of slow) await other.send(16)
    }
    expect(await body.finish()).toBe(200)
    expect(await Promise.all(slow.map((other) => other.breakOff()))).toContain(503)
  })

  it('is not taken from a complete body while its signature is checked', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { begin } = createReader({
      verify: (headers) => (headers.has('x-held') ? promise : Promise.resolve()),
    })
    const held = (await begin('a', { 'x-held': '' }).send(40 * MEBIBYTE)).finish()
    expect(await (await begin('b').send(30 * MEBIBYTE)).finish()).toBe(503)
    // Its event needs more than its body.
    expect(await (await begin('b').send(10 * MEBIBYTE)).finish()).toBe(503)
    resolve()
    expect(await held).toBe(200)
  })

  it('counts of short bodies those above 256 at a time', async () => {
    const { begin, pass } = createReader({ trustContentLength: true })
    const headers = { 'content-length': String(1 + challenge.length) }
    for (const [count, givenUp] of [
      [258, 2],
      [256, 0],
    ] as const) {
      const short = await Promise.all(Array.from({ length: count }, () => begin('a', headers).send(1)))
      pass(3_000)
      const long = await begin('b').send(64 * MEBIBYTE)
      expect(await long.breakOff()).toBe(400)
      const statuses = await finish(short)
      expect(statuses.filter((status) => status === 503)).toHaveLength(givenUp)
    }
  })

  it.each([
    ['breaks off', undefined],
    ['has a forged signature', createVerifier({ secrets: [`whsec_${btoa('the secret of this route')}`] })],
  ])('is free again when a body %s', async (_, verify) => {
    const { begin } = createReader({ verify })
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,abc',
    }
    for (let time = 0; time < 2; time += 1) {
      const body = await begin('a', headers).send(40 * MEBIBYTE)
      expect(await (verify ? body.finish() : body.breakOff())).toBe(verify ? 401 : 400)
    }
  })
})

const { functionCall, name } = calling('count')
/** An event with a long field that nobody reads. */
const heavy = (id: string, mebibytes: number) => ({
  ...{ name, functionCall, deployment: { id, inputs: {} } },
  padding: 'x'.repeat(mebibytes * MEBIBYTE),
})

/** A host whose provider holds every call until `finish`. */
function createBusyHost() {
  const { provider, finish } = slowProvider()
  const limit = createConcurrencyLimit(32)
  const { handle } = createHost({ limit, provider, bodyLimit: 10 * MEBIBYTE })
  const underWay: ReturnType<typeof deliver>[] = []
  const send = (event: object) => deliver(handle, event)
  return {
    send,
    /** Delivers events that the provider holds. */
    async hold(...events: object[]) {
      const before = limit.active
      underWay.push(...events.map(send))
      await expect.poll(() => limit.active).toBe(before + events.length)
    },
    async finish() {
      finish()
      return (await Promise.all(underWay)).map(({ status }) => status)
    },
  }
}

describe('the memory for events under way', () => {
  it('refuses a large one at once while it is full, and takes those of 16 KiB, and large ones again later', async () => {
    const host = createBusyHost()
    await host.hold(...['a', 'b', 'c', 'd', 'e'].map((id) => heavy(id, 3)))
    const refused = await host.send(heavy('f', 2))
    expect(refused).toMatchObject(overloaded)
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(heavy('f', 1 / 64))
    expect(await host.finish()).toEqual([200, 200, 200, 200, 200, 200])
    expect(await host.send(heavy('f', 2))).toMatchObject({ status: 200 })
  })

  it('leaves one deployment half, and refuses no smaller ones', async () => {
    const host = createBusyHost()
    await host.hold(heavy('a', 9))
    expect(await host.send(heavy('a', 1))).toMatchObject(overloaded)
    await host.hold(heavy('a', 1 / 64), heavy('b', 5), heavy('b', 2))
    expect(await host.send(heavy('b', 2))).toMatchObject(overloaded)
    expect(await host.finish()).toEqual([200, 200, 200, 200])
  })

  it('counts the values of an event, of which each takes more than its bytes', async () => {
    const host = createBusyHost()
    const list = (count: number) => ({ ...heavy('a', 0), padding: Array(count).fill(0) })
    await host.hold(list(50_000))
    expect(await host.send(list(50_000))).toMatchObject(overloaded)
    expect(await host.finish()).toEqual([200])
  })
})
