/**
 * Installs the packed packages into an empty project, and uses them on every runtime and in Jest:
 * `node tooling/runtimes/main.ts`, or for example `… main.ts node24 workerd`. The packages must be built.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { printTable } from './table.ts'
import { runCases, runProgram, runtimes } from './targets.ts'

const needs: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(runtimes).map(([name, runtime]) => [name, runtime.installs])),
  jest: ['jest@30.5.2'],
}
const given = process.argv.slice(2)
const chosen = given.length > 0 ? given : Object.keys(needs).filter((name) => name !== 'node')
const unknown = chosen.find((name) => !needs[name])
if (unknown) throw new Error(`“${unknown}” is none of ${Object.keys(needs).join(', ')}.`)

const folder = await mkdtemp(join(tmpdir(), 'runtimes-'))
const project = join(folder, 'project')
const tools = join(folder, 'tools/node_modules')

try {
  const packages = await packAll(folder)
  await installInto(project, [...packages.map(({ tarball }) => tarball), 'zod@^4.4.0'])
  await installInto(
    join(folder, 'tools'),
    chosen.flatMap((name) => needs[name] ?? []),
  )
  await cp(join(import.meta.dirname, 'programs'), project, { recursive: true })

  const columns = chosen.filter((name) => runtimes[name])
  if (!(await printTable(columns, (name, cases) => runCases(name, cases, project, tools))))
    process.exitCode = 1
  for (const name of columns.filter((each) => each.startsWith('node'))) {
    const command = runtimes[name]?.command?.(tools) ?? []
    await report(`${name} require`, () => runProgram([...command, 'required.cjs'], project))
  }
  if (chosen.includes('jest'))
    await report('jest', () =>
      runProgram([process.execPath, join(tools, 'jest/bin/jest.js'), '--rootDir', project], project),
    )
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function report(label: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run()
    console.log(`ok      ${label}`)
  } catch (error) {
    process.exitCode = 1
    console.log(`FAILED  ${label}\n${error instanceof Error ? error.message : error}`)
  }
}
