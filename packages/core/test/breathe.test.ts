import { breathe } from '@org/core/http'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createHost, deployment, post } from './fixtures.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** How much of some work was done in each turn of the event loop. */
async function perTurn(work: Promise<unknown>, done: () => number): Promise<number[]> {
  const counts: number[] = []
  let isOver = false
  void work.then(() => (isOver = true))
  for (let before = 0; !isOver; before = done()) {
    await new Promise((resolve) => setImmediate(resolve))
    counts.push(done() - before)
  }
  return counts
}

it('lets the event loop turn', async () => {
  let breaths = 0
  const work = async () => {
    for (; breaths < 100; breaths += 1) await breathe()
  }
  expect(Math.max(...(await perTurn(work(), () => breaths)))).toBe(1)
})

it('lets those that wait go on one in a turn', async () => {
  let gone = 0
  const work = Array.from({ length: 8 }, () => breathe().then(() => (gone += 1)))
  expect(Math.max(...(await perTurn(Promise.all(work), () => gone)))).toBe(1)
})

it('large bodies that arrive together are parsed one in a turn', async () => {
  const { handle } = createHost()
  const body = JSON.stringify({ name: 'HEALTH_CHECK', deployment, more: 'x'.repeat(300_000) })
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  const parsed = () => parse.mock.calls.filter(([text]) => text === body).length
  const work = Array.from({ length: 8 }, () => post(handle, body))
  expect(Math.max(...(await perTurn(Promise.all(work), parsed)))).toBe(1)
  expect(parsed()).toBe(8)
})

it('ends in a test that has replaced every timer and clock', async () => {
  vi.useFakeTimers()
  await expect(breathe()).resolves.toBeUndefined()
})

it('takes no turn where a runtime or a test has no channels, and waits for no timer', async () => {
  vi.stubGlobal('MessageChannel', undefined)
  const again: string = '../src/breathe.ts?again'
  vi.useFakeTimers()
  const { breathe }: typeof import('../src/breathe.ts') = await import(again)
  await expect(breathe()).resolves.toBeUndefined()
})
