import { describe, expect, it } from 'vitest'
import type { KillPoint } from '../../../bench/chaos/kill-points.ts'
import { createRandom } from '../../../bench/chaos/random.ts'
import { arranged } from '../../../bench/chaos/run.ts'
import { crashBatches } from '../../../bench/chaos/scenarios/crash-batch.ts'
import { crashEverywhere } from '../../../bench/chaos/scenarios/crash-provisioning.ts'

// Every step and many seeds are in `pnpm chaos`; here are the steps between which an effect is not yet known.
const options = { seeds: 1, random: createRandom(1), say: () => {} }

describe('a host that is killed by SIGKILL, and started again on its SQLite file,', () => {
  it('has made one application at the end, whichever step of its creation it died at', async () => {
    const points: KillPoint[] = [
      { at: 'store', number: 2, when: 'after' },
      { at: 'call', number: 3, when: 'after' },
      { at: 'store', number: 4, when: 'before' },
    ]
    await arranged({ store: 'sqlite', hosts: 1, leaseMs: 500, settleMs: 500 }, async (arrangement) => {
      const { figures, violations } = await crashEverywhere(arrangement, { ...options, points })
      expect(violations).toEqual([])
      expect(figures['crashes of a creation']).toBe(points.length)
    })
  }, 30_000)

  it('has sent no mail of a batch twice, and tells of each what became of it', async () => {
    const points: KillPoint[] = [
      { at: 'call', number: 2, when: 'after' },
      { at: 'store', number: 8, when: 'before' },
    ]
    await arranged({ store: 'sqlite', hosts: 1, leaseMs: 1_000 }, async (arrangement) => {
      const { figures, violations } = await crashBatches(arrangement, { ...options, points })
      expect(violations).toEqual([])
      expect(figures.crashes).toBe(points.length)
      expect(figures.sent).toBeGreaterThan(0)
    })
  }, 30_000)
})
