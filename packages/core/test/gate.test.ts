import { createGate, type GateLimits } from '@org/core/http'
import { expect, it } from 'vitest'

const shut = { code: 'provider_error', effect: 'none', retryable: true }

/** A gate with a clock of its own, and an account whose reads succeed or fail as the test says. */
function open() {
  const state = { now: 0, reads: true, probes: 0 }
  const gateOf = createGate(() => state.now)
  const probe = async () => ++state.probes > 0 && state.reads
  const enter = (owner = 'dep_1', limits?: GateLimits, read = probe) =>
    gateOf(owner).enter('origin token', read, limits)
  /** Tries a change, and returns its outcome, or the pause that the gate asks for. */
  async function change(outcome: 'made' | 'unknown', owner?: string) {
    try {
      const pass = await enter(owner)
      pass.leave(outcome)
      return outcome
    } catch (error) {
      expect(error).toMatchObject(shut)
      return Number(Reflect.get(Object(error), 'retryAfter'))
    }
  }
  /** Tries changes that break, one a second. */
  async function tryInVain(...owners: string[]) {
    for (const owner of owners) {
      expect(await change('unknown', owner)).toBe('unknown')
      state.now += 1_000
    }
  }
  return { state, enter, change, tryInVain }
}

/** A gate that a change with an unknown outcome has shut. */
async function openBroken() {
  const opened = open()
  await opened.change('unknown')
  return opened
}

it('lets no change through after an unknown outcome until a read succeeds, and reads once a second', async () => {
  const { state, change } = await openBroken()
  state.reads = false
  expect([await change('made'), await change('made', 'dep_2'), state.probes]).toEqual([1, 1, 1])
  state.now = 999
  expect(await change('made')).toBe(0.001)
  state.now = 1_000
  expect([await change('made'), state.probes]).toEqual([1, 2])
  state.reads = true
  state.now = 2_000
  expect([await change('made'), await change('made'), state.probes]).toEqual(['made', 'made', 3])
})

it('makes one read for all changes that wait for it, and then tries one of each owner', async () => {
  const { state, change } = await openBroken()
  const waiting = [change('made'), change('made'), change('made', 'dep_2'), change('made', 'dep_3')]
  expect(await Promise.all(waiting)).toEqual(['made', 1, 'made', 'made'])
  expect(state.probes).toBe(1)
})

it('stays shut if a change breaks while the read is under way', async () => {
  const { enter, change } = open()
  const [broken, late] = [await enter(), await enter()]
  broken.leave('unknown')
  const waiting = change('made')
  expect(() => late.ensureOpen()).toThrow(expect.objectContaining(shut))
  late.leave('unknown')
  expect(await waiting).toBe(1)
})

it('tries one change of an owner at a time if reads succeed and changes break, after pauses of 1 to 60 seconds', async () => {
  const { state, enter, change } = await openBroken()
  const tried = await enter()
  expect([await change('made'), await change('made', 'dep_2')]).toEqual([1, 'made'])
  tried.leave('unknown')
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(await change('made')).toBe(seconds)
    state.now += seconds * 1_000 - 1
    expect(await change('made')).toBe(0.001)
    state.now += 1
    expect(await change('unknown')).toBe('unknown')
  }
  state.now += 60_000
  expect([await change('made'), await change('made')]).toEqual(['made', 'made'])
})

it('holds every owner up once the changes of two have broken, until one is made', async () => {
  const { state, change, tryInVain } = await openBroken()
  // After the third one, the pause is two seconds.
  await tryInVain('dep_2', 'dep_3', 'dep_4')
  expect(await change('made', 'dep_5')).toBe(1)
  state.now += 1_000
  for (const owner of ['dep_5', 'dep_1', 'dep_2']) expect(await change('made', owner)).toBe('made')
  await tryInVain('dep_1', 'dep_1', 'dep_1')
  expect([await change('made', 'dep_1'), await change('made', 'dep_2')]).toEqual([1, 'made'])
})

it('begins with the first pause again once a change is made that left before the trouble', async () => {
  const { enter, change, tryInVain } = open()
  const early = await enter('dep_5')
  await tryInVain('dep_1', 'dep_2', 'dep_3', 'dep_4')
  early.leave('made')
  await tryInVain('dep_1', 'dep_2')
  expect([await change('unknown', 'dep_3'), await change('made', 'dep_4')]).toEqual(['unknown', 1])
})

it('waits for a caller that wants to, as long as it does', async () => {
  const { state, enter, change } = await openBroken()
  state.reads = false
  const waits: number[] = []
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds)
    state.now += milliseconds
    state.reads = waits.length === 3
    return true
  }
  const pass = await enter('dep_1', { wait })
  pass.leave('made')
  expect(waits).toEqual([1_000, 1_000, 1_000])
  await change('unknown')
  state.reads = false
  await expect(enter('dep_1', { wait: async () => false })).rejects.toMatchObject(shut)
})

it('holds nobody up by a read that hangs, once one has failed', async () => {
  const { state, enter, change } = await openBroken()
  state.reads = false
  await change('made')
  state.now = 1_000
  const { promise: hanging, resolve: answer } = Promise.withResolvers<boolean>()
  const waiting = enter('dep_1', undefined, () => hanging)
  expect(await change('made')).toBe(1)
  const wait = async () => true
  const controller = new AbortController()
  const ended = enter('dep_1', { wait, signal: controller.signal })
  controller.abort()
  await expect(ended).rejects.toMatchObject(shut)
  await expect(enter('dep_1', { wait, deadline: Date.now() + 1 })).rejects.toMatchObject(shut)
  answer(true)
  expect(await waiting).toBeDefined()
})

it('reads once a second for those that wait on their own, too', async () => {
  const { state, enter } = await openBroken()
  state.reads = false
  const waits: (() => void)[] = []
  const wait = () => new Promise<boolean>((resolve) => waits.push(() => resolve(true)))
  const all = [enter('dep_1', { wait }), enter('dep_2', { wait })]
  await expect.poll(() => waits.length).toBe(2)
  state.now = 500
  waits[0]?.()
  await expect.poll(() => waits.length).toBe(3)
  waits[1]?.()
  await expect.poll(() => waits.length).toBe(4)
  expect(state.probes).toBe(2)
  state.reads = true
  for (const end of waits) end()
  for (const pass of await Promise.all(all)) pass.leave('made')
})
