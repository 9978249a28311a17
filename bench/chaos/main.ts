/**
 * Runs the chaos scenarios: `pnpm chaos [--only <name>] [--seed <number>] [--seeds <number>] [--minutes <number>]`.
 */
import { parseArgs } from 'node:util'
import { createRandom } from './random.ts'
import type { Scenario } from './run.ts'
import { ambiguous } from './scenarios/ambiguous.ts'
import { crashBatch } from './scenarios/crash-batch.ts'
import { crashProvisioning } from './scenarios/crash-provisioning.ts'
import { duplicates } from './scenarios/duplicates.ts'
import { failover } from './scenarios/failover.ts'
import { keepAlive } from './scenarios/keep-alive.ts'
import { lives } from './scenarios/lives.ts'
import { orders } from './scenarios/orders.ts'
import { pausedHolder } from './scenarios/pause.ts'
import { platformOutage } from './scenarios/platform-outage.ts'
import { redisOutage } from './scenarios/redis-outage.ts'
import { rolling } from './scenarios/rolling.ts'
import { slowClients } from './scenarios/slow-clients.ts'
import { soak } from './scenarios/soak.ts'
import { storeHiccup } from './scenarios/store-hiccup.ts'

const say = (line: string) => void process.stdout.write(`${line}\n`)

const scenarios: readonly Scenario[] = [
  duplicates,
  crashProvisioning,
  crashBatch,
  pausedHolder,
  orders,
  platformOutage,
  redisOutage,
  storeHiccup,
  ambiguous,
  keepAlive,
  rolling,
  failover,
  slowClients,
  lives,
  soak,
]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seed: { type: 'string' },
    seeds: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '10' },
  },
})
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000))
const names = scenarios.map(({ name }) => name)
const unknown = values.only?.find((name) => !names.includes(name))
if (unknown !== undefined) {
  say(`There is no scenario “${unknown}”. The scenarios are ${names.join(', ')}.`)
  process.exit(2)
}
const chosen = scenarios.filter(({ name }) => values.only?.includes(name) ?? true)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
say(`seed ${seed}\n`)
let failed = false
for (const { name, shows, run } of chosen) {
  const began = performance.now()
  say(`${name}: ${shows}`)
  const { figures, violations } = await run({
    random: createRandom(seed).fork(name),
    minutes: Number(values.minutes),
    seeds: Number(values.seeds),
    say: (line) => say(`  … ${line}`),
  })
  for (const [what, figure] of Object.entries(figures)) say(`  ${what}: ${figure}`)
  for (const violation of violations) say(`  VIOLATION ${violation}`)
  failed ||= violations.length > 0
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  say(`  ${violations.length} violations, ${seconds} s\n`)
}
process.exit(failed ? 1 : 0)
