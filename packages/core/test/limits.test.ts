import { createConcurrencyLimit } from '@org/core'
import { breathe } from '@org/core/http'
import { deliver } from '@org/core/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { calling, createHost, deployment, post, slowProvider } from './fixtures.ts'

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
      return (await Promise.all(underWay)).map(({ status }) => status)
    },
  }
}

describe('the concurrency limit of a host', () => {
  it.each([
    ['one deployment', readOf('dep_1'), 'of this deployment'],
    ['the health checks of one deployment', health('dep_1'), 'of this deployment'],
    ['the events of a route without a deployment', calling('count'), 'of /greeter without a deployment'],
  ])('leaves %s a quarter, and lets others pass', async (_, event, whose) => {
    const host = createBusyHost()
    await host.hold(event, event)
    const refused = await host.send(event)
    expect(refused).toMatchObject(overloaded)
    expect(refused.body).toMatchObject({ detail: `This host works on 2 events ${whose} already.` })
    expect(refused.headers.get('retry-after')).toBe('1')
    await host.hold(readOf('dep_2'))
    expect(await host.finish()).toEqual([200, 200, 200])
    expect(await host.send(event)).toMatchObject({ status: 200 })
  })

  it('answers a challenge while no other event is admitted', async () => {
    const host = createBusyHost()
    await host.hold(...[1, 2, 3, 4].flatMap((id) => [readOf(`dep_${id}`), health(`dep_${id}`)]))
    expect(await host.send(readOf('dep_5'))).toMatchObject(overloaded)
    const challenge = { name: 'WEBHOOK_CHALLENGE', challenge: 'c', deployment }
    expect(await host.send(challenge)).toMatchObject({ status: 200, body: { challenge: 'c' } })
    await host.finish()
  })
})

describe('the event loop', () => {
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  /** The most that was done in one turn. */
  async function mostInATurn(work: Promise<unknown>[], done: () => number) {
    let most = 0
    const isOver = Promise.all(work).then(() => true)
    for (let before = 0; ; before = done()) {
      const ended = await Promise.race([isOver, new Promise((resolve) => setImmediate(resolve, false))])
      most = Math.max(most, done() - before)
      if (ended) return most
    }
  }

  it('turns for each that breathes, and lets those that wait go on one in a turn', async () => {
    let breaths = 0
    const work = async () => {
      for (let at = 0; at < 10; at += 1) await breathe().then(() => (breaths += 1))
    }
    expect(await mostInATurn([work(), work(), work()], () => breaths)).toBe(1)
  })

  it('parses large bodies that arrive together one in a turn', async () => {
    const { handle } = createHost()
    const body = JSON.stringify({ name: 'HEALTH_CHECK', deployment, more: 'x'.repeat(300_000) })
    const parse = vi.spyOn(JSON, 'parse')
    const parsed = () => parse.mock.calls.filter(([text]) => text === body).length
    const work = Array.from({ length: 8 }, () => post(handle, body))
    expect([await mostInATurn(work, parsed), parsed()]).toEqual([1, 8])
    parse.mockRestore()
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
