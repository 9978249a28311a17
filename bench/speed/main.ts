/**
 * Runs the benchmark: our code in turns with the floors.
 *
 * `pnpm bench` runs all rows and writes their sections of RESULTS.md. Options: `--only <row>` (repeatable) runs
 * single rows; `--quick` runs short rounds, and writes nothing; `--events <number>` sets the length of the memory row;
 * `--smoke` runs the gate of CI alone.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../shared/machine.ts'
import { replaceSections } from '../shared/markdown.ts'
import { createFixture } from './fixture.ts'
import { measureRow } from './row.ts'
import { batch } from './rows/batch.ts'
import { event } from './rows/event.ts'
import { memory } from './rows/memory.ts'
import { send } from './rows/send.ts'
import { start } from './rows/start.ts'
import { measureSmoke } from './smoke.ts'

const rows = [event, send, batch, start, memory]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
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

const events = values.events === undefined ? undefined : Number(values.events)
if (!Number.isInteger(events ?? 1)) exitWith('--events must be a whole number.')
const ids = rows.map(({ id }) => id)
const only = values.only ?? ids
const unknown = only.find((id) => !ids.includes(id))
if (unknown !== undefined) exitWith(`There is no row “${unknown}”. The rows are ${ids.join(', ')}.`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const provenance = `${new Date().toISOString().slice(0, 10)}; ${describeMachine()}`
console.log(`${provenance}\n`)
log('building …')
const fixture = await createFixture()
if (values.smoke) {
  const { passed, sentence } = await measureSmoke(fixture)
  exitWith(sentence, passed ? 0 : 1)
}
const sections = new Map<string, string>()
for (const row of rows.filter(({ id }) => only.includes(id))) {
  const content = await measureRow(row, {
    fixture,
    events,
    quick: values.quick,
    progress: (line) => log(`[${row.id}] ${line}`),
  })
  console.log(`## ${row.title}\n\n${content}\n`)
  sections.set(row.id, `## ${row.title}\n\n_${provenance}_\n\n${content}`)
}

if (!values.quick) replaceSections(join(import.meta.dirname, '../RESULTS.md'), sections)
log(`bench/RESULTS.md ${values.quick ? 'is unchanged: this was a quick run' : 'has the results'}.`)
process.exit(0)
