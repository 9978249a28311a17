/**
 * Fuzzes the host: `pnpm fuzz --cases 1000000 --minutes 5 --seed 7`. Prints each kind of fault once with the smallest
 * request that shows it, and exits with 1 if there is one.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import * as fc from 'fast-check'
import { anyRequest, createTarget } from './fuzzing.ts'

const { values } = parseArgs({
  // Some package managers pass on the “--” before the arguments of a script.
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  options: {
    cases: { type: 'string', default: '1000000000' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now()) },
  },
})
const [cases, minutes] = [Number(values.cases), Number(values.minutes)]
/** Of the round. */
let seed = Number(values.seed)
const end = Date.now() + minutes * 60_000
/** Cases per target, because its emulators remember every call. */
const ROUND = 2_000

// The pause between two attempts is random, up to a limit: this makes it none.
Math.random = () => 0
const kinds = new Set<string>()
let tried = 0
let slowest = { milliseconds: 0, path: '' }
process.on('unhandledRejection', (reason) => report(`An unhandled rejection: ${reason}`))

process.stdout.write(`seed ${seed}, for ${minutes} minutes or ${cases} cases\n`)
for (; tried < cases && Date.now() < end; seed += 1) {
  const target = createTarget()
  const run = await fc.check(
    fc.asyncProperty(anyRequest, async (request) => {
      tried += 1
      const started = performance.now()
      const fault = await target.send(request)
      const milliseconds = performance.now() - started
      if (milliseconds > slowest.milliseconds) slowest = { milliseconds, path: request.path }
      if (fault !== undefined && !kinds.has(kindOf(fault))) throw new Error(fault)
    }),
    {
      seed,
      numRuns: Math.min(ROUND, cases - tried),
      interruptAfterTimeLimit: Math.max(1, end - Date.now()),
    },
  )
  if (run.counterexample && run.errorInstance instanceof Error)
    report(run.errorInstance.message, JSON.stringify(run.counterexample[0]))
}
process.stdout.write(
  `${tried} cases, ${kinds.size} kinds of fault; the slowest response took ${slowest.milliseconds.toFixed(0)} ms (${slowest.path})\n`,
)
process.exit(kinds.size > 0 ? 1 : 0)

function report(fault: string, request = ''): void {
  kinds.add(kindOf(fault))
  process.stdout.write(`FAULT (seed ${seed}): ${fault}\n${request}\n\n`)
}

/** A fault without the values that it quotes. */
function kindOf(fault: string): string {
  return fault.replaceAll(/“[^”]*”|"[^"]*"|\d+/g, '').slice(0, 60)
}
