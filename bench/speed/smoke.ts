/**
 * The gate against regressions: what an event costs, as a multiple of the same work written by hand. A bare echo is no
 * measure for it: it does little but system calls, whose share differs by a third from one processor to another.
 */
import { times } from '../shared/format.ts'
import type { Fixture } from './fixture.ts'
import { event } from './rows/event.ts'

/** The least processor time of an event × that of the line by hand. Lower it when an event costs less. */
const USUAL_TIMES = 2
/** A quarter more fails. */
const MOST_TIMES = USUAL_TIMES * 1.25
const ROUNDS = 10
const WARM_ROUNDS = 4
/** Other work of the machine makes events cost more, never less: the least of more rounds is closer to the truth. */
const MOST_ROUNDS = 40

/**
 * Measures until the result is below the limit, or there were enough rounds.
 *
 * @returns the result as a sentence, and whether it is below the limit
 */
export async function measureSmoke(fixture: Fixture): Promise<{ passed: boolean; sentence: string }> {
  const ids = ['pino', 'ours'] as const
  const { measure, stop } = await event.start({ fixture, only: ids, quick: true })
  const least = { pino: Number.POSITIVE_INFINITY, ours: Number.POSITIVE_INFINITY }
  const ratio = () => least.ours / least.pino
  for (let round = -WARM_ROUNDS; round < MOST_ROUNDS; round += 1) {
    for (const id of ids) {
      const { cpuMicroseconds = Number.NaN } = await measure(id)
      if (round >= 0) least[id] = Math.min(least[id], cpuMicroseconds)
    }
    if (round >= ROUNDS && ratio() <= MOST_TIMES) break
  }
  await stop?.()
  const passed = ratio() <= MOST_TIMES
  const limit = `The limit is ${times(MOST_TIMES)}.`
  return {
    passed,
    sentence: `A HEALTH_CHECK costs ${times(ratio())} of the same work written by hand. ${limit}`,
  }
}
