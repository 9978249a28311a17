/**
 * `node tooling/mutation/main.ts [--only <part of an id or a file>]`: applies the faults in `faults/` to copies of the
 * repository, and lists those that no test notices.
 */
import { parseArgs } from 'node:util'
import { allFaults, findMistakes, findSurvivors } from './mutation.ts'

function fail(...lines: readonly string[]): never {
  console.error(lines.join('\n  '))
  process.exit(1)
}

// `findSurvivors` deletes its copies when the process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => fail(signal))

const root = new URL('../..', import.meta.url).pathname
const { only = '' } = parseArgs({ options: { only: { type: 'string' } } }).values
const faults = allFaults.filter(({ id, file }) => id.includes(only) || file.includes(only))
const mistakes = findMistakes(faults, root)
if (mistakes.length > 0) fail('The list of faults has mistakes:', ...mistakes)
if (faults.length === 0) fail(`No fault has “${only}” in its id or its file.`)

const survivors = await findSurvivors(faults, { root })
console.log(`\nTests notice ${faults.length - survivors.length} of ${faults.length} faults.`)
for (const { id, file, why, known } of survivors)
  console.log(
    `\n${known ? 'known survivor' : 'SURVIVES'}  ${id}  ${file}\n  ${why}${known ? `\n  ${known}` : ''}`,
  )
if (survivors.some(({ known }) => known === undefined)) process.exitCode = 1
