/**
 * Installs the packed packages into an empty project, and uses them on every runtime: `node tooling/runtimes/main.ts`,
 * or for example `… main.ts node24 workerd typescript`; `… main.ts table node deno` prints the table of cases alone.
 * The packages must be built.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complaintsOf } from '../complaints.ts'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { startEmulators } from './emulators.ts'
import { runInWorkerd, runProgram } from './run.ts'
import { printTable } from './table.ts'
import { runtimes, workerd } from './targets.ts'
import { checks, installs } from './typescript.ts'

const { node: _, ...installed } = runtimes
const every = [...Object.keys(installed), 'workerd', 'typescript', 'jest']
const given = process.argv.slice(2).filter((name) => name !== 'table')
const tableOnly = process.argv.includes('table')
const chosen = given.length > 0 ? given : every
const unknown = chosen.find((name) => name !== 'node' && !every.includes(name))
if (unknown) throw new Error(`“${unknown}” is none of table, node, ${every.join(', ')}.`)

const folder = await mkdtemp(join(tmpdir(), 'runtimes-'))
const project = join(folder, 'project')
const tools = join(folder, 'tools/node_modules')

try {
  const packages = await packAll(folder)
  const others: Record<string, readonly string[]> = {
    workerd: [workerd.installs],
    typescript: installs,
    jest: ['jest@30.5.2'],
  }
  const needed = chosen.flatMap((name) => runtimes[name]?.installs ?? others[name] ?? [])
  await Promise.all([
    installInto(project, [...packages.map(({ tarball }) => tarball), 'zod@^4.4.0']),
    installInto(join(folder, 'tools'), needed),
  ])
  await cp(join(import.meta.dirname, 'programs'), project, { recursive: true })

  if (!tableOnly) await exercise()
  const runners = chosen.flatMap((name) => {
    const command = runtimes[name]?.command(tools)
    if (command)
      return [[name, (cases: string) => runProgram([...command, 'cases.mjs', cases], project)]] as const
    const program = join(project, 'cases.mjs')
    return name === 'workerd'
      ? ([[name, (cases: string) => runInWorkerd(tools, program, cases)]] as const)
      : []
  })
  if (!(await printTable(Object.fromEntries(runners)))) process.exitCode = 1
  if (!tableOnly && chosen.includes('jest')) await report('jest', runJest)
  if (!tableOnly && chosen.includes('typescript')) {
    for (const { label, run } of checks) await report(label, () => run(project, tools, packages))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function exercise(): Promise<void> {
  const emulators = await startEmulators(project)
  const { mailUrl, platformUrl } = emulators
  for (const name of chosen) {
    const { command = () => [], programs = {} } = runtimes[name] ?? {}
    const runs = Object.entries(programs).map(([label, program]) => {
      const line = [...command(tools), program, mailUrl, platformUrl]
      return [label, () => runProgram(line, project)] as const
    })
    if (name === 'workerd') {
      const addresses = JSON.stringify({ mailUrl, platformUrl })
      runs.push(['import', () => runInWorkerd(tools, join(project, 'worker.mjs'), addresses)])
    }
    for (const [label, run] of runs) {
      await report(`${name} ${label}`, async () => {
        emulators.reset()
        emulators.check(await run())
      })
    }
  }
  await emulators.close()
}

/** Uses the packages in a test of Jest, as it is configured by default. */
async function runJest(): Promise<void> {
  const options = [join(tools, 'jest/bin/jest.js'), '--rootDir', project]
  const complaints = await complaintsOf(process.execPath, options)
  if (complaints) throw new Error(complaints)
}

async function report(label: string, run: () => Promise<void>): Promise<void> {
  const started = performance.now()
  try {
    await run()
    console.log(`ok      ${label} (${Math.round(performance.now() - started)} ms)`)
  } catch (error) {
    process.exitCode = 1
    console.log(`FAILED  ${label}\n${error instanceof Error ? error.message : error}`)
  }
}
