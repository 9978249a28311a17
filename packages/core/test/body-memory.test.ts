/** The memory that a host has for bodies, with senders whose bodies arrive as the test says. */
import { createConcurrencyLimit, createVerifier, type HandlerDependencies } from '@org/core'
import { describe, expect, it } from 'vitest'
import { clock, createHost, post, readProblem } from './fixtures.ts'

const MEBIBYTE = 1024 * 1024
const spaces = new Uint8Array(MEBIBYTE).fill(0x20)
const challenge = new TextEncoder().encode('{"name":"WEBHOOK_CHALLENGE"}')

/** A host that takes bodies of 64 MiB, which is all that it has memory for. */
function createReader(dependencies: Partial<HandlerDependencies> = {}) {
  const { now, pass } = clock()
  const limit = createConcurrencyLimit(8)
  const peer = (request: Request) => request.headers.get('x-peer') ?? undefined
  const { handle, lines } = createHost({ limit, now, bodyLimit: 64 * MEBIBYTE, peer, ...dependencies })

  /** Begins a body from an address. */
  function begin(address: string, headers: Record<string, string> = {}) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const write = (bytes: Uint8Array) => writer.write(bytes).catch(() => {})
    const response = post(handle, readable, { 'x-peer': address, ...headers })
    const body = {
      response,
      /** Resolves when the host has read the MiB, or reads no more. */
      async send(mebibytes: number) {
        for (let left = mebibytes * MEBIBYTE; left > 0; left -= MEBIBYTE)
          await write(spaces.subarray(0, left))
        return body
      },
      /** Sends the rest: an event. Resolves with the status. */
      async finish() {
        await write(challenge)
        await writer.close().catch(() => {})
        return (await response).status
      },
      /** Whether the host wants no more of it. */
      isCancelled: writer.closed.then(
        () => false,
        () => true,
      ),
      /** Resolves with the status: 503 if it gave way, else 400. */
      async breakOff() {
        await writer.abort(new Error('The connection breaks.'))
        return (await response).status
      },
    }
    return body
  }
  const breakOff = (bodies: ReturnType<typeof begin>[]) => Promise.all(bodies.map((body) => body.breakOff()))
  return { begin, breakOff, lines, pass }
}

describe('the memory for bodies that arrive', () => {
  it('is not reserved for what a request announces', async () => {
    const { begin } = createReader()
    const headers = { 'content-length': String(64 * MEBIBYTE) }
    const announced = await begin('a', headers).send(1 / MEBIBYTE)
    expect(await (await begin('a').send(10)).finish()).toBe(200)
    expect(await announced.finish()).toBe(200)
  })

  it('goes to a body that arrives in time, from one that came to a halt', async () => {
    const { begin, pass, lines } = createReader()
    const inTime = await begin('a').send(30)
    const givesWay = await begin('b').send(20)
    const stays = await begin('c').send(13.9)
    pass(2_100)
    await inTime.send(1)
    const problem = await readProblem(await givesWay.response)
    expect(problem).toMatchObject({ status: 503, code: 'overloaded', retryable: true })
    expect(problem.headers.get('retry-after')).toBe('1')
    expect(await givesWay.isCancelled).toBe(true)
    expect(lines).toMatchObject([{ facts: { code: 'overloaded', peer: 'b' } }])
    expect([await inTime.finish(), await stays.finish()]).toEqual([200, 200])
  })

  it('is taken from the slowest body, if all arrive in time', async () => {
    const { begin, pass, breakOff } = createReader()
    const bodies = [await begin('a').send(25)]
    for (const [address, mebibytes] of [
      ['b', 34],
      ['c', 1],
      ['d', 10],
    ] as const) {
      pass(200)
      bodies.push(await begin(address).send(mebibytes))
    }
    expect(await breakOff(bodies)).toEqual([503, 400, 400, 400])
  })

  it('is taken from strangers before an address of which an event was signed', async () => {
    const { begin, breakOff } = createReader()
    expect(await begin('a').finish()).toBe(200)
    const known = await begin('a').send(40)
    const strangers = await Promise.all([1, 2, 3].map((at) => begin(`b${at}`).send(8)))
    await known.send(1)
    expect(await breakOff([known, ...strangers])).toEqual([400, 503, 400, 400])
  })

  it('is not taken from a body of which a first packet has just arrived', async () => {
    const { begin, pass } = createReader()
    const before = [await begin('a').send(31.81), await begin('a').send(31.81)]
    pass(40_000)
    for (const body of before) await body.send(0.15)
    const beginning = await begin('a').send(0.001)
    pass(50)
    await before[0]?.send(0.15)
    expect(await beginning.finish()).toBe(200)
  })

  it('is not taken from a body of 64 KiB a second by slower ones, from however many addresses', async () => {
    const { begin, pass, breakOff } = createReader()
    const body = await begin('a').send(1 / MEBIBYTE)
    const slow = await Promise.all(Array.from({ length: 128 }, (_, at) => begin(`b${at}`).send(0.4995)))
    // It was slow once.
    pass(60_000)
    for (let second = 0; second < 30; second += 1) {
      await body.send(1 / 16)
      pass(1_000)
      for (const other of slow) await other.send(16 / MEBIBYTE)
    }
    expect(await body.finish()).toBe(200)
    expect(await breakOff(slow)).toContain(503)
  })

  it('is not taken from a complete body while its signature is checked', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { begin } = createReader({
      verify: (headers) => async () => (headers.has('x-held') ? promise : undefined),
    })
    const held = (await begin('a', { 'x-held': '' }).send(40)).finish()
    expect(await (await begin('b').send(30)).finish()).toBe(503)
    // Its event needs more than its body.
    expect(await (await begin('b').send(10)).finish()).toBe(503)
    resolve()
    expect(await held).toBe(200)
  })

  it.each([
    [258, 2],
    [256, 0],
  ])('counts of %i short bodies at a time %i', async (count, givenUp) => {
    const { begin, pass } = createReader({ trustContentLength: true })
    const headers = { 'content-length': String(1 + challenge.length) }
    const short = Array.from({ length: count }, () => begin('a', headers).send(1 / MEBIBYTE))
    await Promise.all(short)
    pass(3_000)
    expect(await (await begin('b').send(64)).breakOff()).toBe(400)
    const statuses = await Promise.all(short.map(async (body) => (await body).finish()))
    expect(statuses.filter((status) => status === 503)).toHaveLength(givenUp)
  })

  it('is free again when a body breaks off, or has a forged signature', async () => {
    const verify = createVerifier({ secrets: [`whsec_${btoa('the secret of this route')}`] })
    const { begin } = createReader({ verify })
    const now = String(Math.floor(Date.now() / 1000))
    const forged = { 'webhook-id': 'evt_1', 'webhook-timestamp': now, 'webhook-signature': 'v1,abc' }
    for (const status of [400, 401, 401]) {
      const body = await begin('a', forged).send(40)
      expect(await (status === 400 ? body.breakOff() : body.finish())).toBe(status)
    }
  })
})
