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
