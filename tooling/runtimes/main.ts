/**
 * Installs the packed packages into an empty project, and uses them on every runtime, in Jest and with four compilers:
 * `node tooling/runtimes/main.ts`, or for example `… main.ts node24 workerd typescript`. The packages must be built.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { complaintsOf } from '../complaints.ts'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { printTable } from './table.ts'
import { runCases, runProgram, runtimes } from './targets.ts'
import { installs, resolutions, typecheck, versions } from './typescript.ts'

const needs: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(runtimes).map(([name, runtime]) => [name, runtime.installs])),
  jest: ['jest@30.5.2'],
  typescript: installs,
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
    await report('jest', async () => {
      const complaints = await complaintsOf(process.execPath, [
        join(tools, 'jest/bin/jest.js'),
        '--rootDir',
        project,
      ])
      if (complaints) throw new Error(complaints)
    })
  for (const version of chosen.includes('typescript') ? versions : [])
    for (const resolution of resolutions)
      await report(`typescript ${version} ${resolution}`, () =>
        typecheck(project, join(tools, `typescript-${version}`), packages, resolution),
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
