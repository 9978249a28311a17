import { breathe } from '@org/core/http'
import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

it('lets the event loop turn', async () => {
  let turns = 0
  let isOver = false
  const turn = () => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  turn()
  for (let breaths = 0; breaths < 100; breaths += 1) await breathe()
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(100)
})

it('lets those that wait go on one in a turn', async () => {
  let gone = 0
  const breaths = Array.from({ length: 5 }, () => breathe().then(() => (gone += 1)))
  const isOver = Promise.all(breaths).then(() => true)
  let before = 0
  while (!(await Promise.race([isOver, new Promise((resolve) => setImmediate(resolve, false))]))) {
    expect(gone - before).toBeLessThanOrEqual(1)
    before = gone
  }
  expect(gone).toBe(5)
})

it('ends in a test that has replaced every timer and clock', async () => {
  vi.useFakeTimers()
  await expect(breathe()).resolves.toBeUndefined()
})

it('takes a timer where a runtime has no channels, and not one that a test replaces later', async () => {
  vi.stubGlobal('MessageChannel', undefined)
  const again: string = '../src/breathe.ts?again'
  const { breathe }: typeof import('../src/breathe.ts') = await import(again)
  vi.useFakeTimers()
  await expect(breathe()).resolves.toBeUndefined()
})
