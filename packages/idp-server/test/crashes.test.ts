/** Hosts that die at any moment of a creation, a deletion or a discard, and their successors. */
import { memoryStore } from '@org/core'
import { connectPlatform, type Fault } from '@org/core/testing'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Faults } from '../../core/test/lives/events.ts'
import { createHaltingHost } from '../../core/test/lives/halting-host.ts'
import { inputs, onCreate, runWorld } from './support.ts'

const { provider, platform, host, published } = runWorld()

const LEASE_MS = 30_000

// A host that died leaves the timers of its claims.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

type Host = ReturnType<typeof host>
type Send = (host: Host) => ReturnType<Host['send']>

const create: Send = (host) => host.create()
const rename: Send = (host) => host.create({ applicationName: 'Blog' })
const remove: Send = (host) => host.remove({ inputs })
/** The platform knows the deployment until its application is created. */
const forget: Send = (host) => {
  platform.faults.add({ method: 'PUT', path: /outputs$/, status: 404, body: {}, times: 9 })
  return host.create()
}

/** Sends an event until the response is final, and returns its status or code. */
async function finish(send: Send, host: Host): Promise<unknown> {
  for (let tries = 0; tries < 5; tries += 1) {
    const { retryable, status, code } = Object((await send(host)).body)
    if (!retryable) return status ?? code
  }
  return 'goes on for ever'
}

/** Sends an event to a host that dies at a request, and other events to its successor on the same store. */
async function dieAt(halt: Faults['halt'], { before = [], faults = [], dying, after }: Scenario) {
  provider.reset()
  platform.reset()
  platform.addDeployment({ id: 'dep_1', inputs })
  let time = Date.now()
  const now = () => time
  const store = memoryStore({ now })
  const { halted, ...outside } = createHaltingHost({ halt }, store)
  const common = { now, settleMs: 0 }
  const mortal = host({
    ...{ ...common, store: outside.store, fetch: outside.provider(fetch) },
    platform: connectPlatform(outside.platform(platform.fetch)),
  })
  const successor = host({ ...common, store })
  for (const send of before) await finish(send, successor)
  provider.faults.add(...faults)
  const hasSurvived = await Promise.race([dying(mortal).then(() => true), halted.then(() => false)])
  provider.faults.clear()
  time += LEASE_MS
  const answers = []
  for (const send of after) answers.push(await finish(send, successor))
  return { hasSurvived, answers }
}

interface Scenario {
  before?: Send[]
  faults?: Fault[]
  dying: Send
  after: Send[]
}

it.each<[string, Scenario, answers: unknown[], names: string[]]>([
  ['a creation', { dying: create, after: [create] }, ['running'], ['Shop']],
  [
    'a creation whose answer was lost',
    { faults: [{ ...onCreate, cut: 'after' }], dying: create, after: [create] },
    ['running'],
    ['Shop'],
  ],
  ['a redeploy', { before: [create], dying: rename, after: [rename] }, ['running'], ['Blog']],
  [
    'a deletion, which no late creation undoes',
    { before: [create], dying: remove, after: [remove, create] },
    ['stopped', 'ignored'],
    [],
  ],
  [
    'a creation that the platform no longer knows',
    { dying: forget, after: [forget] },
    [expect.anything()],
    [],
  ],
])('the successor of a host that died at any moment ends %s', async (_, scenario, answers, names) => {
  for (let at = 1, survived = false; !survived; at += 1) {
    for (const when of ['before', 'after'] as const) {
      const { hasSurvived, answers: found } = await dieAt({ at, when }, scenario)
      survived = hasSurvived
      const applications = [...provider.applications.values()]
      const left = applications.map(({ name }) => name)
      expect({ at, when, answers: found, names: left }).toEqual({ at, when, answers, names })
      if (names.length > 0) expect(published()).toBe(applications[0]?.applicationId)
    }
  }
})
