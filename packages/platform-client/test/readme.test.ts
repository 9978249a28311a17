import { join } from 'node:path'
import { createPlatformEmulator } from '@org/core/testing'
import { describeReadme } from '@org/tooling/readme'
import { expect } from 'vitest'

const emulator = createPlatformEmulator()

await describeReadme(join(import.meta.dirname, '..'), {
  hosts: { 'platform.example.com': emulator.fetch },
  reset() {
    emulator.reset()
    emulator.addDeployment({ id: 'dep_123' })
  },
  async run(path) {
    await import(path)
    expect(emulator.calls.length).toBeGreaterThan(0)
    expect(emulator.calls.filter(({ status }) => status !== 200)).toEqual([])
  },
})
