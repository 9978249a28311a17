import { describe, expect, it } from 'vitest'
import type { KillPoint } from '../../../bench/chaos/kill-points.ts'
import { createRandom } from '../../../bench/chaos/random.ts'
import { arranged } from '../../../bench/chaos/run.ts'
import { crashBatches } from '../../../bench/chaos/scenarios/crash-batch.ts'
import { crashEverywhere } from '../../../bench/chaos/scenarios/crash-provisioning.ts'

// Every step and many seeds are in `pnpm chaos`; here are the steps between which an effect is not yet known.
const options = { seeds: 1, random: createRandom(1), say: () => {} }

describe('a host that is killed and restarted on its SQLite file', () => {
  it('creates one application, whichever step the crash interrupts', async () => {
    const points: KillPoint[] = [
      { at: 'store', number: 2, when: 'after' },
      { at: 'call', number: 3, when: 'after' },
      { at: 'store', number: 3, when: 'before' },
      { at: 'store', number: 4, when: 'before' },
      { at: 'store', number: 5, when: 'before' },
    ]
    await arranged({ store: 'sqlite', hosts: 1, settleMs: 500 }, async (arrangement) => {
      const { figures, violations } = await crashEverywhere(arrangement, { ...options, points })
      expect(violations).toEqual([])
      expect(figures['crashes of a creation']).toBe(points.length)
    })
  })

  it('sends no mail of a batch twice, and reports the result of each', async () => {
    const points: KillPoint[] = [
      { at: 'call', number: 2, when: 'after' },
      { at: 'store', number: 3, when: 'before' },
      { at: 'store', number: 8, when: 'before' },
    ]
    await arranged({ store: 'sqlite', hosts: 1 }, async (arrangement) => {
      const { figures, violations } = await crashBatches(arrangement, { ...options, points })
      expect(violations).toEqual([])
      expect(figures.crashes).toBe(points.length)
      expect(figures.sent).toBeGreaterThan(0)
    })
  })
})
