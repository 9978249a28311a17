/**
 * Installs the packed packages into an empty project, uses them on every runtime and in Jest, and prints a table of
 * cases and runtimes: `node tooling/runtimes/main.ts`, or for example `… main.ts node24 workerd`. The packages must be
 * built.
 */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../bench/shared/processes.ts'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { type Case, cases, sent, unknown } from './cases.ts'
import { startProvider } from './provider.ts'
import { type Folders, runCases, runProgram, runtimes } from './targets.ts'

const known = [...Object.keys(runtimes), 'jest']
const given = process.argv.slice(2)
const stranger = given.find((name) => !known.includes(name))
if (stranger) throw new Error(`“${stranger}” is none of ${known.join(', ')}.`)
const chosen = given.length > 0 ? given : known

const folder = makeFolder()
const folders: Folders = { project: join(folder, 'project'), tools: join(folder, 'tools/node_modules') }
const faults: string[] = []
const packages = await packAll(folder)
await installInto(folders.project, [...packages.map(({ tarball }) => tarball), 'zod@^4.4.0'])
const needs = chosen.flatMap((name) => (name === 'jest' ? 'jest@30.5.2' : (runtimes[name]?.installs ?? [])))
await installInto(join(folder, 'tools'), needs)
await cp(join(import.meta.dirname, 'programs'), folders.project, { recursive: true })

const columns = chosen.filter((name) => name !== 'jest')
/** The verdicts of each case, by runtime. */
const table: Record<string, Record<string, string>> = {}
await Promise.all(columns.map(judgeAll))
console.table(table)
for (const name of columns.filter((each) => each.startsWith('node')))
  await tryProgram(name, 'require', [...(runtimes[name]?.command(folders) ?? []), 'required.cjs'])
const jest = [process.execPath, join(folders.tools, 'jest/bin/jest.js'), '--rootDir', folders.project]
if (chosen.includes('jest')) await tryProgram('jest', 'with its default configuration', jest)
for (const fault of faults) console.log(fault)
if (faults.length > 0) process.exitCode = 1

/** Runs all cases on a runtime, and writes its column of the table. */
async function judgeAll(runtime: string): Promise<void> {
  const rows = await Promise.all(
    Object.entries(cases).map(async ([name, row]) => ({ name, row, provider: await startProvider(row) })),
  )
  const tasks = rows.map(({ name, row, provider: { url } }) => ({ ...row, name, url }))
  const outcomes = JSON.parse(await runCases(runtime, JSON.stringify(tasks), folders))
  for (const { name, row, provider } of rows) {
    const fault = judge(row, outcomes[name] ?? [], provider.accepted.length)
    if (fault) faults.push(`${runtime}: ${name}: ${fault}`)
    table[name] = { ...table[name], [runtime]: fault ? 'FAILED' : 'ok' }
    provider.close()
  }
}

/** Compares the outcomes with those that are right, and the provider's count with both. */
function judge({ outcomes = [sent], or = outcomes, accepted }: Case, found: string[], count: number) {
  const most = outcomes.filter((outcome) => outcome === sent || outcome === unknown).length
  const [right, other] = [outcomes, or].map((list) => `${list.join(', ')}; ${accepted ?? most} accepted`)
  const told = `${found.join(', ')}; ${count} accepted`
  return told === right || told === other ? undefined : `expected ${right}; found ${told}`
}

async function tryProgram(runtime: string, title: string, command: readonly string[]): Promise<void> {
  const fault: unknown = await runProgram(command, folders).then(() => undefined, String)
  console.log(`${fault ? 'FAILED' : 'ok'}  ${runtime}: ${title}`)
  if (fault) faults.push(`${runtime}: ${title}: ${fault}`)
}
