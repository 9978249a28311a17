/**
 * Runs the chaos scenarios: `node --conditions=@org/source bench/chaos/main.ts [<name> …]`. Each day begins with another
 * seed. Options: `--seeds <number>` runs more of them, `--minutes <number>` sets how long `failover` takes, and
 * `--only <text>` runs the cases whose name has it.
 */
import { parseArgs } from 'node:util'
import { inParallel } from '../shared/clock.ts'
import type { Findings } from './checks.ts'
import { drill } from './drill/drill.ts'
import { failover } from './scenarios/failover.ts'
import { kill, pausedHolder } from './scenarios/interruptions.ts'
import { outage } from './scenarios/outage.ts'
import { redisOutage } from './scenarios/redis.ts'

const scenarios = [kill, pausedHolder, redisOutage, failover, outage, drill]
const DAY_MS = 24 * 60 * 60_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
})
const names = scenarios.map(({ name }) => name)
const unknown = positionals.find((name) => !names.includes(name))
if (unknown !== undefined) {
  console.error(`There is no scenario “${unknown}”. The scenarios are ${names.join(', ')}.`)
  process.exit(2)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const today = Math.floor(Date.now() / DAY_MS)
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => today + index)
const options = { minutes: Number(values.minutes), seeds, only: values.only }
const secondsSince = (began: number) => ((performance.now() - began) / 1_000).toFixed(1)
const violations: string[] = []
for (const { name, shows, atATime, cases } of scenarios) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const began = performance.now()
  console.log(`${name}: ${shows}`)
  const chosen = Object.entries(cases(options)).filter(([title]) => title.includes(values.only))
  await inParallel(atATime, chosen, async ([title, run]) => {
    const caseBegan = performance.now()
    const found: Findings = { figures: {}, violations: [] }
    await run(found).catch((error) => found.violations.push(String(error)))
    violations.push(...found.violations.map((each) => `${name}, ${title}: ${each}`))
    console.log(`  ${title}: ${found.violations.length} violations, ${secondsSince(caseBegan)} s`)
    for (const [what, figure] of Object.entries(found.figures)) console.log(`    ${what}: ${figure}`)
  })
  console.log(`  ${chosen.length} cases, ${secondsSince(began)} s\n`)
}
// At the end, where a page that has only the last lines shows them.
for (const violation of violations) console.log(`VIOLATION ${violation}`)
console.log(`${violations.length} violations`)
process.exit(violations.length > 0 ? 1 : 0)
