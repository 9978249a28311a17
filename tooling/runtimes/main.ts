/**
 * Installs the packed packages into an empty project, and uses them on every runtime: `pnpm runtimes`, or for
 * example `pnpm runtimes node24 workerd typescript`. The packages must be built.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { startEmulators } from './emulators.ts'
import * as jest from './jest.ts'
import { runInWorkerd, runProgram } from './run.ts'
import { runtimes, workerd } from './targets.ts'
import { checks, installs } from './typescript.ts'

const known = [...Object.keys(runtimes), 'workerd', 'typescript', 'jest']
const chosen = process.argv.length > 2 ? process.argv.slice(2) : known
const unknown = chosen.find((name) => !known.includes(name))
if (unknown) throw new Error(`“${unknown}” is none of ${known.join(', ')}.`)

const folder = await mkdtemp(join(tmpdir(), 'runtimes-'))
const project = join(folder, 'project')
const tools = join(folder, 'tools/node_modules')

try {
  const packages = await packAll(folder)
  await installInto(project, [...packages.map(({ tarball }) => tarball), 'zod@^4.4.0'])
  const others: Record<string, readonly string[]> = {
    workerd: [workerd.installs],
    typescript: installs,
    jest: jest.installs,
  }
  const needed = chosen.flatMap((name) => runtimes[name]?.installs ?? others[name] ?? [])
  await installInto(join(folder, 'tools'), needed)
  await cp(join(import.meta.dirname, 'programs'), project, { recursive: true })

  const emulators = await startEmulators(project)
  const place = { project, ...emulators }
  for (const name of chosen) {
    const programs = Object.entries(runtimes[name]?.programs ?? {}).map(
      ([label, command]) => [label, () => runProgram(command(tools), place)] as const,
    )
    if (name === 'workerd') programs.push(['import', () => runInWorkerd(tools, place)])
    for (const [label, run] of programs) {
      await report(`${name} ${label}`, async () => {
        emulators.reset()
        emulators.check(await run())
      })
    }
  }
  await emulators.close()
  if (chosen.includes('jest')) await report('jest', () => jest.runJest(project, tools))
  if (chosen.includes('typescript')) {
    for (const { label, run } of checks) await report(label, () => run(project, tools, packages))
  }
} finally {
  await rm(folder, { recursive: true, force: true })
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
