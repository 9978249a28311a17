/**
 * Runs the benchmark, our code in turns with the floors, and prints each row as a section of RESULTS.md.
 *
 * `pnpm bench` runs all rows. Options: `--only <row>` (repeatable) runs single rows; `--quick` runs short rounds;
 * `--smoke` runs the gate of CI alone.
 */
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { createFixture } from './fixture.ts'
import { measureRow } from './row.ts'
import { batch } from './rows/batch.ts'
import { event } from './rows/event.ts'
import { send } from './rows/send.ts'
import { start } from './rows/start.ts'
import { measureSmoke } from './smoke.ts'

const rows = [event, send, batch, start]
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: rows.map(({ id }) => id) },
    quick: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
  },
})
const { only, quick } = values
const unknown = only.find((id) => !rows.some((row) => row.id === id))
if (unknown !== undefined) throw new Error(`There is no row “${unknown}”.`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const load = loadavg().map((value) => value.toFixed(2))
const memory = `${Math.round(totalmem() / 1e9)} GB`
const machine = `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, ${memory}, ${process.platform}`
const provenance = `${new Date().toISOString().slice(0, 10)}; ${machine}, Node ${process.versions.node}, load average at the start ${load.join(', ')}`
console.error(`${provenance}\nbuilding …`)
const fixture = await createFixture()
if (values.smoke) {
  const { passed, sentence } = await measureSmoke(fixture)
  console.log(sentence)
  process.exit(passed ? 0 : 1)
}
for (const row of rows.filter(({ id }) => only.includes(id))) {
  const progress = (line: string) => console.error(`[${row.id}] ${line}`)
  const content = await measureRow(row, { fixture, quick, progress })
  console.log(`## ${row.title}\n\n_${provenance}_\n\n${content}\n`)
}
process.exit(0)
