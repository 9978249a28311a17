/**
 * Fuzzes the host: `pnpm fuzz --minutes 60 --seed 7`. Ends with the smallest request that shows a fault, if there is
 * one.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { fuzz } from './fuzzing.ts'

const { values } = parseArgs({
  // Some package managers pass on the “--” before the arguments of a script.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now()) },
  },
})
const end = Date.now() + Number(values.minutes) * 60_000
/** Requests per host, because its emulators remember every call. */
const ROUND = 2_000

// The pause between two attempts is random, up to a limit: this makes it none.
Math.random = () => 0
for (let seed = Number(values.seed); Date.now() < end; seed += 1) {
  process.stdout.write(`${ROUND} requests with the seed ${seed}\n`)
  await fuzz(seed, ROUND)
}
