/** Hosts that die at any moment of a creation, a deletion or a discard, and their successors. */
import { type DeliveryStore, memoryStore } from '@org/core'
import { connectPlatform, deliver, type Fault } from '@org/core/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { applicationsPath } from './support.ts'
import { runWebhook } from './webhook-support.ts'

const fixture = runWebhook()
const { provider, platform } = fixture

const LEASE_MS = 30_000
const inputs = { applicationName: 'Shop' }
const created = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_1', inputs } }
const renamed = {
  name: 'DEPLOYMENT_CREATED',
  deployment: { id: 'dep_1', inputs: { applicationName: 'Blog' } },
}
const deleted = { name: 'DEPLOYMENT_DELETED', deployment: { id: 'dep_1', inputs } }

// A host that died leaves the timers of its claims.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A death at a request to the store, the provider or the platform, by its number from 1. */
interface Death {
  at: number
  when: 'before' | 'after'
}

/** A host that dies, and its successor on the same store. */
function createWorld(death: Death) {
  let time = Date.now()
  const now = () => time
  const memory = memoryStore({ now })
  const died = Promise.withResolvers<void>()
  let steps = 0

  async function step<Result>(request: () => Promise<Result>): Promise<Result> {
    steps += 1
    if (steps < death.at) return request()
    if (steps === death.at) {
      if (death.when === 'after') await request().catch(() => {})
      died.resolve()
    }
    return new Promise(() => {})
  }
  const through =
    (send: typeof fetch): typeof fetch =>
    (...call) =>
      step(() => send(...call))
  const store: DeliveryStore = {
    ...memory,
    claim: (...request) => step(() => memory.claim(...request)),
    advance: (...request) => step(() => memory.advance(...request)),
    complete: (...request) => step(() => memory.complete(...request)),
    release: (...request) => step(() => memory.release(...request)),
    reserve: (...request) => step(() => memory.reserve(...request)),
    read: (...request) => step(() => memory.read(...request)),
  }
  const common = { now, settleMs: 0 }
  const mortal = fixture.handler({
    ...common,
    store,
    fetch: through(fetch),
    platform: connectPlatform(through(platform.fetch)),
  })
  const successor = fixture.handler({ ...common, store: memory })
  return {
    /** Delivers an event to the host that dies, if it lives so long. */
    dieWith: async (event: object) => {
      await Promise.race([deliver(mortal, event), died.promise])
      time += LEASE_MS
      return steps < death.at
    },
    /** Delivers an event to its successor until the response is final. */
    async finish(event: object) {
      for (let tries = 0; tries < 5; tries += 1) {
        const { body } = await deliver(successor, event)
        const { retryable, status, code } = Object(body)
        if (!retryable) return status ?? code
      }
      return 'goes on for ever'
    },
  }
}

/** Runs a scenario with a death at each of its steps. */
async function dieEverywhere(run: (world: ReturnType<typeof createWorld>, death: Death) => Promise<boolean>) {
  for (let at = 1, survived = false; !survived; at += 1) {
    for (const when of ['before', 'after'] as const) {
      provider.reset()
      platform.reset()
      survived = await run(createWorld({ at, when }), { at, when })
    }
  }
}

const names = () => [...provider.applications.values()].map(({ name }) => name)
const published = () => fixture.deployment()?.outputs.applicationId
const cut: Fault = { method: 'POST', path: applicationsPath, cut: 'after' }

describe('a host that dies at any moment', () => {
  it.each<[string, Fault[]]>([
    ['a creation', []],
    ['a creation whose answer was lost', [cut]],
  ])('of %s leaves one application to its successor', async (_, faults) => {
    await dieEverywhere(async (world, death) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      provider.faults.add(...faults)
      const survived = await world.dieWith(created)
      provider.faults.clear()
      const status = await world.finish(created)
      expect({ death, status, names: names() }).toEqual({ death, status: 'running', names: ['Shop'] })
      expect(published()).toBe([...provider.applications.keys()][0])
      return survived
    })
  })

  it('of a redeploy leaves one application, with its new name', async () => {
    await dieEverywhere(async (world, death) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      await world.finish(created)
      const survived = await world.dieWith(renamed)
      const status = await world.finish(renamed)
      expect({ death, status, names: names() }).toEqual({ death, status: 'running', names: ['Blog'] })
      return survived
    })
  })

  it('of a deletion leaves no application, and no way for a late creation', async () => {
    await dieEverywhere(async (world, death) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      await world.finish(created)
      const survived = await world.dieWith(deleted)
      const statuses = [await world.finish(deleted), await world.finish(created)]
      expect({ death, statuses, names: names() }).toEqual({
        death,
        statuses: ['stopped', 'ignored'],
        names: [],
      })
      return survived
    })
  })

  it('of a creation that the platform no longer knows leaves no application', async () => {
    await dieEverywhere(async (world, death) => {
      platform.addDeployment({ id: 'dep_1', inputs })
      platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {}, times: 9 })
      const survived = await world.dieWith(created)
      await world.finish(created)
      expect({ death, names: names() }).toEqual({ death, names: [] })
      return survived
    })
  })
})
