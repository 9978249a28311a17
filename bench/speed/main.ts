/**
 * Runs the benchmark: our code in turns with its peers and floors.
 *
 * `pnpm bench` runs all rows and writes their sections of RESULTS.md. Options: `--only <row>` (repeatable) runs
 * single rows; `--against postmark,resend,clerk` runs only these peers, and all floors; `--quick` runs short
 * rounds; `--seed <number>` repeats the order of a run; `--events <number>` sets the length of the memory row.
 * A quick run and a run without some peers write nothing.
 *
 * @module
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../chaos/random.ts'
import { describeMachine } from '../shared/machine.ts'
import { replaceSections } from '../shared/markdown.ts'
import { createFixture } from './fixture.ts'
import { type Contender, measureRow, type Row } from './row.ts'
import { bulkSend } from './rows/bulk-send.ts'
import { outboundCall, singleSend } from './rows/calls.ts'
import { coldStart } from './rows/cold-start.ts'
import { importing } from './rows/import.ts'
import { memory } from './rows/memory.ts'
import { throughput } from './rows/throughput.ts'
import { twoProcesses } from './rows/two-processes.ts'

const rows = [outboundCall, singleSend, bulkSend, importing, coldStart, throughput, memory, twoProcesses]
const LIMIT_MS = 25 * 60_000
const page = join(import.meta.dirname, '../RESULTS.md')

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    seed: { type: 'string' },
    events: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const log = (line: string) => console.error(line)

function exitWith(message: string, code = 2): never {
  log(message)
  process.exit(code)
}

const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000))
if (!Number.isInteger(seed)) exitWith('--seed must be a whole number.')
const events = values.events === undefined ? undefined : Number(values.events)
if (events !== undefined && !(Number.isInteger(events) && events >= 1_000))
  exitWith('--events must be a whole number of at least 1,000.')
const ids = rows.map(({ id }) => id)
for (const name of values.only ?? [])
  if (!ids.includes(name)) exitWith(`There is no row “${name}”. The rows are ${ids.join(', ')}.`)
const peers = values.against?.split(',').map((name) => name.trim())
const known = new Set(rows.flatMap(({ contenders }) => contenders.filter(isPeer).map(({ id }) => id)))
for (const name of peers ?? [])
  if (!known.has(name)) exitWith(`There is no peer “${name}”. The peers are ${[...known].join(', ')}.`)

function isPeer({ kind }: Contender): boolean {
  return kind === 'peer'
}

/** The contenders that this run measures. `postmark` includes `postmark-8`. */
function chosenOf({ contenders }: Row): Contender[] {
  const isWanted = ({ id }: Contender) =>
    peers?.some((name) => id === name || id.startsWith(`${name}-`)) ?? true
  return contenders.filter((contender) => !isPeer(contender) || isWanted(contender))
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
setTimeout(() => exitWith(`The run took longer than ${LIMIT_MS / 60_000} minutes.`, 1), LIMIT_MS).unref()

const provenance = `${new Date().toISOString().slice(0, 10)}, seed ${seed}; ${describeMachine()}`
console.log(`${provenance}\n`)
const began = performance.now()
log('building …')
const fixture = await createFixture()
const sections = new Map<string, string>()
const chosen = rows.filter(({ id }) => values.only?.includes(id) ?? true)
let isComplete = true
for (const [at, row] of chosen.entries()) {
  const contenders = chosenOf(row)
  const content = await measureRow(row, {
    fixture,
    contenders,
    events,
    quick: values.quick,
    random: createRandom(seed).fork(row.id),
    progress(line) {
      const minutes = ((performance.now() - began) / 60_000).toFixed(1)
      log(`[${at + 1}/${chosen.length} ${row.id}, ${minutes} min] ${line}`)
    },
  })
  console.log(`## ${row.title}\n\n${content}\n`)
  sections.set(row.id, `## ${row.title}\n\n_${provenance}_\n\n${content}`)
  isComplete &&= contenders.length === row.contenders.length
}

if (values.quick) log('RESULTS.md is unchanged: this was a quick run.')
else if (!isComplete) log('RESULTS.md is unchanged: some peers were left out.')
else {
  replaceSections(page, sections)
  log('The sections of bench/RESULTS.md are written.')
}
process.exit(0)
