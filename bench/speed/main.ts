/**
 * Runs the benchmark: our code in turns with its peers and floors.
 *
 * `pnpm bench` runs all rows and writes their sections of RESULTS.md. Options: `--only <row>` (repeatable) runs
 * single rows; `--against postmark` runs only these peers, and all floors; `--quick` runs short
 * rounds; `--seed <number>` repeats the order of a run; `--events <number>` sets the length of the memory row;
 * `--smoke` runs the gate of CI alone. A quick run and a run without some peers write nothing.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createRandom } from '../chaos/random.ts'
import { describeMachine } from '../shared/machine.ts'
import { replaceSections } from '../shared/markdown.ts'
import { createFixture } from './fixture.ts'
import { type Contender, measureRow } from './row.ts'
import { bulkSend } from './rows/bulk-send.ts'
import { coldStart } from './rows/cold-start.ts'
import { distantSend } from './rows/distant-send.ts'
import { memory } from './rows/memory.ts'
import { stores } from './rows/stores.ts'
import { throughput } from './rows/throughput.ts'
import { measureSmoke } from './smoke.ts'

const rows = [throughput, distantSend, bulkSend, coldStart, memory, stores]
const LIMIT_MS = 25 * 60_000

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    against: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000_000)) },
    events: { type: 'string' },
    quick: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
  },
})
const log = (line: string) => console.error(line)

function exitWith(message: string, code = 2): never {
  log(message)
  process.exit(code)
}

function checkNames(kind: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined)
    exitWith(`There is no ${kind} “${unknown}”. The ${kind}s are ${known.join(', ')}.`)
}

const seed = Number(values.seed)
if (!Number.isInteger(seed)) exitWith('--seed must be a whole number.')
const events = values.events === undefined ? undefined : Number(values.events)
if (events !== undefined && !(Number.isInteger(events) && events >= 1_000))
  exitWith('--events must be a whole number of at least 1,000.')
const ids = rows.map(({ id }) => id)
const only = values.only ?? ids
checkNames('row', only, ids)
const known = rows.flatMap(({ contenders }) => contenders).filter(({ kind }) => kind === 'peer')
const peers = values.against?.split(',').map((name) => name.trim())
checkNames('peer', peers ?? [], [...new Set(known.map(({ id }) => id))])

/** Whether this run measures a contender. `postmark` includes `postmark-8`. */
const isChosen = ({ id, kind }: Contender) =>
  kind !== 'peer' || (peers?.some((name) => id === name || id.startsWith(`${name}-`)) ?? true)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
setTimeout(() => exitWith(`The run took longer than ${LIMIT_MS / 60_000} minutes.`, 1), LIMIT_MS).unref()

const provenance = `${new Date().toISOString().slice(0, 10)}, seed ${seed}; ${describeMachine()}`
console.log(`${provenance}\n`)
const began = performance.now()
log('building …')
const fixture = await createFixture()
if (values.smoke) {
  const { passed, sentence } = await measureSmoke(fixture)
  exitWith(sentence, passed ? 0 : 1)
}
const sections = new Map<string, string>()
const chosen = rows.filter(({ id }) => only.includes(id))
for (const [at, row] of chosen.entries()) {
  const content = await measureRow(row, {
    fixture,
    contenders: row.contenders.filter(isChosen),
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
}

if (values.quick) log('RESULTS.md is unchanged: this was a quick run.')
else if (!chosen.every(({ contenders }) => contenders.every(isChosen)))
  log('RESULTS.md is unchanged: some peers were left out.')
else {
  replaceSections(join(import.meta.dirname, '../RESULTS.md'), sections)
  log('The sections of bench/RESULTS.md are written.')
}
process.exit(0)
