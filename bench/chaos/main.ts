/**
 * Runs the chaos scenarios: `node --conditions=@org/source bench/chaos/main.ts [<name> …]`. Options: `--seeds <number>`
 * sets how often a scenario repeats each case, `--minutes <number>` how long `failover` takes, and `--only <text>` runs the
 * cases of `outage` whose name has it.
 */
import { parseArgs } from 'node:util'
import type { Findings } from './checks.ts'
import { drill } from './drill/drill.ts'
import { failover } from './scenarios/failover.ts'
import { kill, pausedHolder } from './scenarios/interruptions.ts'
import { outage } from './scenarios/outage.ts'
import { redisOutage } from './scenarios/redis.ts'

const scenarios = [kill, pausedHolder, redisOutage, failover, outage, drill]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '10' },
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
let failed = false
for (const { name, shows, run } of scenarios) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const began = performance.now()
  console.log(`${name}: ${shows}`)
  const found: Findings = { figures: {}, violations: [] }
  await run(found, {
    minutes: Number(values.minutes),
    seeds: Number(values.seeds),
    only: values.only,
    say: (line) => console.log(`  … ${line}`),
  })
  const { figures, violations } = found
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what}: ${figure}`)
  for (const violation of violations) console.log(`  VIOLATION ${violation}`)
  failed ||= violations.length > 0
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`  ${violations.length} violations, ${seconds} s\n`)
}
process.exit(failed ? 1 : 0)
