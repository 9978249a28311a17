import { join } from 'node:path'
import { createPlatformEmulator } from '@org/core/testing'
import { prepareExamples } from '@org/tooling/readme'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

const { blocks, compile } = await prepareExamples(join(import.meta.dirname, '..'))

const emulator = createPlatformEmulator()

beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubGlobal('fetch', emulator.fetch)
})
beforeEach(() => {
  emulator.reset()
  emulator.addDeployment({ id: 'dep_123' })
})
afterAll(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

describe('the README', () => {
  it('has examples that compile', { timeout: 30_000 }, async () => {
    expect(await compile()).toBe('')
  })

  for (const { title, path, code } of blocks) {
    if (code.includes("from 'vitest'")) {
      // The block's tests become tests of this file.
      describe(title, async () => void (await import(path)))
    } else {
      it(`${title} makes a call that the platform accepts`, async () => {
        await import(path)
        expect(emulator.calls.length).toBeGreaterThan(0)
        expect(emulator.calls.filter(({ status }) => status !== 200)).toEqual([])
      })
    }
  }
})
