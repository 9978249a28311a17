/**
 * Random lives in one process, whose hosts halt and wake. `SEED` repeats a run, and `LIVES` sets its size. A failure
 * prints the shortest life that shows it.
 */
import { memoryStore } from '@org/core'
import { connectPlatform, createPlatformEmulator, deliver } from '@org/core/testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inFakeTime } from '../fixtures.ts'
import { anyFaults, callFaults, type Faults } from './events.ts'
import { createHaltingHost, LEASE_MS } from './halting-host.ts'
import { createIntegration, createProvider } from './integrations.ts'
import { runLives, type World } from './lives.ts'
import { type Answer, Owning } from './model.ts'

const lives = Number(process.env.LIVES ?? 300)
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date'] })
})
afterEach(() => void vi.useRealTimers())

/** Each delivery has a host of its own, and all have one store. */
function createWorld() {
  const platform = createPlatformEmulator()
  const provider = createProvider()
  const store = memoryStore()
  const integrations = { owning: createIntegration('owning'), connected: createIntegration('connected') }
  const world: World = {
    platform,
    faults: anyFaults,
    Owning,
    inputsOf: (_, inputs, deployment) => ({ ...inputs, name: `${deployment} ${inputs.name}` }),
    callOf: (_, deployment) => ({ name: 'act', arguments: { to: deployment } }),

    async send({ id, route, body }, faults) {
      const host = createHaltingHost(faults, store)
      const later: Promise<unknown>[] = []
      const handle = integrations[route]({
        platform: connectPlatform(host.platform(platform.fetch)),
        verify: 'none',
        store: host.store,
        fetch: host.provider(provider.fetch),
        logger: () => {},
        leaseMs: LEASE_MS,
        waitUntil: (work) => void later.push(work),
      })
      const response = deliver(handle, body, { id }).finally(() => Promise.allSettled(later))
      const sent = await inFakeTime(() => Promise.race([response, host.halted]))
      if (sent) return sent
      const taken = host.taken.splice(0)
      const wake = async () => {
        host.wake()
        return { ...(await inFakeTime(() => response)), taken: host.taken }
      }
      return { taken, wake }
    },

    // Without the timers of the halted host.
    outlastLease: () => void vi.setSystemTime(Date.now() + LEASE_MS),
    identify: ({ applicationId: id, name, token }) =>
      id ?? (name ? `${name} ${token}`.replace(/^\S+ /, '') : undefined),
    look(deployment) {
      const own = [...provider.applications.values()].filter(({ name }) => name.startsWith(`${deployment} `))
      const effects = own.reduce((sum, { users }) => sum + users, provider.mails.get(deployment) ?? 0)
      return { applications: own.map(({ users: _, ...application }) => application), effects }
    },
    removeApplication: (id) => void provider.applications.delete(id),
  }
  return { world, mails: provider.mails }
}

/** A run that meets only some of the rules proves only those. */
const rules = 16

const timeout = 60_000 + 100 * lives

it(`random lives of deployments agree with the model of the contract, from seed ${seed}`, {
  timeout,
}, async () => {
  const answers = new Set<Answer>()
  for (let round = 0; answers.size < rules && round < 5; round += 1) {
    const came = await runLives(createWorld().world, { seed: seed + round, numRuns: lives })
    for (const answer of came) answers.add(answer)
  }
  expect([...answers].sort()).toHaveLength(rules)
})

it(`a call and a batch happen once, whatever the store loses and whenever their hosts halt, from seed ${seed}`, {
  timeout,
}, async () => {
  const calls = fc.constantFrom(
    { name: 'act', arguments: { to: 'Ada' } },
    { name: 'actOnAll', arguments: { to: ['Ada', 'Bo', 'Cy'] } },
  )
  const attempts = fc.array(callFaults, { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(calls, attempts, async (functionCall, attempts) => {
    const { world, mails } = createWorld()
    world.platform.addDeployment({ id: 'dep_1' })
    const body = { name: 'FUNCTION_CALL', deployment: { id: 'dep_1' }, functionCall }
    const send = (faults: Faults) => world.send({ id: 'evt_1', route: 'connected', body }, faults)
    let hasHalted = false
    for (const faults of attempts) {
      if (!('taken' in (await send(faults)))) continue
      hasHalted = true
      world.outlastLease?.()
    }
    const { result: told = {} } = Object(Object(await send({})).body)
    const wanted = [functionCall.arguments.to].flat()
    for (const to of wanted) {
      const sent = mails.get(to) ?? 0
      expect([to, sent <= 1, hasHalted || sent === 1]).toEqual([to, true, true])
      expect(hasHalted && told[to] !== 'sent' ? ['unknown', undefined] : ['sent']).toContain(told[to])
      if (told[to] === 'sent') expect(sent).toBe(1)
    }
  })
  await fc.assert(property, { seed, numRuns: lives })
})
