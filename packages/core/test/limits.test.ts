import { createConcurrencyLimit } from '@org/core'
import { deliver } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import { calling, createHost, slowProvider } from './fixtures.ts'

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
