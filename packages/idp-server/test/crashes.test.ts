/** Hosts that die at any moment of a creation, a deletion or a discard, and their successors. */
import { memoryStore } from '@org/core'
import { connectPlatform, type Fault } from '@org/core/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Faults } from '../../core/test/lives/events.ts'
import { createHaltingHost } from '../../core/test/lives/halting-host.ts'
import { inputs, onCreate, runWebhook } from './support.ts'

const fixture = runWebhook()
const { provider, platform, published, names } = fixture

const LEASE_MS = 30_000

// A host that died leaves the timers of its claims.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

type Host = ReturnType<typeof fixture.host>
type Send = (host: Host) => ReturnType<Host['send']>

/** A host that dies at a request to the store, the provider or the platform, and its successor on the same store. */
function createWorld(halt: Faults['halt']) {
  let time = Date.now()
  const now = () => time
  const store = memoryStore({ now })
  const dying = createHaltingHost({ halt }, store)
  const common = { now, settleMs: 0 }
  const mortal = fixture.host({
    ...common,
    store: dying.store,
    fetch: dying.provider(fetch),
    platform: connectPlatform(dying.platform(platform.fetch)),
  })
  const successor = fixture.host({ ...common, store })
  return {
    /** Sends an event to the host that dies, if it lives so long. */
    async dieWith(send: Send) {
      const hasSurvived = await Promise.race([send(mortal).then(() => true), dying.halted.then(() => false)])
      time += LEASE_MS
      return hasSurvived
    },
    /** Sends an event to its successor until the response is final. */
    async finish(send: Send) {
      for (let tries = 0; tries < 5; tries += 1) {
        const { retryable, status, code } = Object((await send(successor)).body)
        if (!retryable) return status ?? code
      }
      return 'goes on for ever'
    },
  }
}

const create: Send = (host) => host.create()
const rename: Send = (host) => host.create({ applicationName: 'Blog' })
const remove: Send = (host) => host.remove({ inputs })

describe('a host that dies at any moment', () => {
  /** Runs a scenario with a death at each of its steps: what the successor answers, and which applications are left. */
  async function dieEverywhere(
    {
      before = [],
      faults = [],
      dying,
      after,
    }: { before?: Send[]; faults?: Fault[]; dying: Send; after: Send[] },
    expected: object,
  ) {
    for (let at = 1, survived = false; !survived; at += 1) {
      for (const when of ['before', 'after'] as const) {
        provider.reset()
        platform.reset()
        platform.addDeployment({ id: 'dep_1', inputs })
        const world = createWorld({ at, when })
        for (const send of before) await world.finish(send)
        provider.faults.add(...faults)
        survived = await world.dieWith(dying)
        provider.faults.clear()
        const answers = []
        for (const send of after) answers.push(await world.finish(send))
        expect({ at, when, answers, names: names() }).toMatchObject({ at, when, ...expected })
        if (names().length > 0) expect(published()).toBe([...provider.applications.keys()][0])
      }
    }
  }

  it.each<[string, Fault[]]>([
    ['a creation', []],
    ['a creation whose answer was lost', [{ ...onCreate, cut: 'after' }]],
  ])('of %s leaves one application to its successor', (_, faults) =>
    dieEverywhere({ faults, dying: create, after: [create] }, { answers: ['running'], names: ['Shop'] }),
  )

  it('of a redeploy leaves one application, with its new name', () =>
    dieEverywhere(
      { before: [create], dying: rename, after: [rename] },
      { answers: ['running'], names: ['Blog'] },
    ))

  it('of a deletion leaves no application, and no way for a late creation', () =>
    dieEverywhere(
      { before: [create], dying: remove, after: [remove, create] },
      { answers: ['stopped', 'ignored'], names: [] },
    ))

  it('of a creation that the platform no longer knows leaves no application', () => {
    const gone = () =>
      platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {}, times: 9 })
    const forgotten: Send = (host) => {
      gone()
      return host.create()
    }
    return dieEverywhere({ dying: forgotten, after: [forgotten] }, { names: [] })
  })
})
