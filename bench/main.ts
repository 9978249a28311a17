/**
 * Runs the benchmarks: ours beside its peers and floors, in turns.
 *
 * `pnpm bench` runs all rows and writes RESULTS.md. `--only <row>` (repeatable) runs some, and replaces their
 * sections alone; `--against postmark,resend,clerk` holds ours against these peers alone (the floors stay),
 * `--quick` runs everything for a moment; neither writes anything unless the row is whole. `--seed <number>`
 * gives the same orders again, `--events 1000000` makes the memory row as long.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { createRandom } from './chaos/random.ts'
import { arrange } from './harness/arrangement.ts'
import { describeMachine } from './harness/machine.ts'
import { type Section, writeResults } from './harness/results.ts'
import type { BenchmarkRow, Contender } from './harness/row.ts'
import { toSection } from './harness/table.ts'
import { rows } from './rows/all.ts'

const LIMIT_MS = 25 * 60_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    seed: { type: 'string' },
    events: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const say = (line: string) => void process.stderr.write(`${line}\n`)
const print = (text: string) => void process.stdout.write(`${text}\n\n`)

function refuse(message: string): never {
  say(message)
  process.exit(2)
}

const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000))
const events = values.events === undefined ? undefined : Number(values.events)
if (!Number.isInteger(seed) || (events !== undefined && !(events >= 1_000)))
  refuse('--seed takes a whole number, --events one of at least 1,000.')

for (const name of values.only ?? []) {
  if (!rows.some(({ id }) => id === name))
    refuse(`There is no row “${name}”. There are: ${rows.map(({ id }) => id).join(', ')}.`)
}
const peers = values.against?.split(',').map((name) => name.trim())
const known = new Set(rows.flatMap(({ contenders }) => contenders.filter(isPeer).map(({ id }) => id)))
for (const name of peers ?? [])
  if (!known.has(name)) refuse(`There is no peer “${name}”. There are: ${[...known].join(', ')}.`)

function isPeer({ kind }: Contender): boolean {
  return kind === 'peer'
}

/** Those of a row that are run. `postmark` stands for its ways, as `postmark-8`, too. */
function chosenOf({ contenders }: BenchmarkRow): Contender[] {
  const wanted = ({ id }: Contender) =>
    peers?.some((name) => id === name || id.startsWith(`${name}-`)) ?? true
  return contenders.filter((contender) => !isPeer(contender) || wanted(contender))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
setTimeout(() => {
  say(`The run was not over after ${LIMIT_MS / 60_000} minutes.`)
  process.exit(1)
}, LIMIT_MS).unref()

const provenance = `${new Date().toISOString().slice(0, 10)}, seed ${seed}; ${describeMachine()}`
print(provenance)
const began = performance.now()
const arrangement = await arrange(say)
const sections: Section[] = []
const chosen = rows.filter(({ id }) => values.only?.includes(id) ?? true)
for (const [at, row] of chosen.entries()) {
  const contenders = chosenOf(row)
  const minutes = () => `${((performance.now() - began) / 60_000).toFixed(1)} min`
  const progress = (line: string) => say(`[${at + 1}/${chosen.length} ${row.id}, ${minutes()}] ${line}`)
  const random = createRandom(seed).fork(row.id)
  const measured = await row.run({ arrangement, random, contenders, quick: values.quick, events, progress })
  const content = toSection(row, contenders, measured)
  print(`## ${row.title}\n\n${content}`)
  if (contenders.length === row.contenders.length) sections.push({ row, provenance, content })
}
arrangement.remove()

if (values.quick) say('A quick run: nothing is written.')
else if (sections.length < chosen.length) say('Some peers were left out: nothing is written.')
else {
  writeResults(rows, sections)
  say('Written to bench/RESULTS.md.')
}
process.exit(0)
