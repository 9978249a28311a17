/**
 * Installs the packages as they are published into an empty project, and uses them on every runtime:
 * `pnpm runtimes`, or `pnpm runtimes node24 workerd typescript` for some. The packages are built before.
 *
 * @module
 */
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packAll } from '../packages/pack.ts'
import { installInto } from '../packages/weigh.ts'
import { typecheck } from './compilers.ts'
import { type Emulators, startEmulators } from './emulators.ts'
import { runInWorkerd, runProgram } from './run.ts'
import { compilers, runtimes, workerd } from './targets.ts'

const known = [...Object.keys(runtimes), 'workerd', 'typescript']
const chosen = process.argv.length > 2 ? process.argv.slice(2) : known
const unknown = chosen.find((name) => !known.includes(name))
if (unknown) throw new Error(`There is no “${unknown}” here, only ${known.join(', ')}.`)

const folder = await mkdtemp(join(tmpdir(), 'runtimes-'))
const project = join(folder, 'project')
const tools = join(folder, 'tools/node_modules')
let failures = 0

try {
  const packages = await packAll(folder)
  await installInto(project, [...packages.map(({ tarball }) => tarball), 'zod@^4.4.0'])
  await installInto(join(folder, 'tools'), chosen.flatMap(installsOf))
  await cp(join(import.meta.dirname, 'programs'), project, { recursive: true })

  const emulators = await startEmulators(project)
  for (const name of chosen) {
    for (const [program, command] of Object.entries(runtimes[name]?.programs ?? {})) {
      await report(`${name} ${program}`, () =>
        useIn(emulators, () => runProgram(project, command(tools), emulators)),
      )
    }
    if (name === 'workerd') {
      await report('workerd import', () => useIn(emulators, () => runInWorkerd(project, tools, emulators)))
    }
    if (name === 'typescript') {
      for (const [label, run] of typecheck(project, tools, packages)) await report(label, run)
    }
  }
  await emulators.close()
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = failures > 0 ? 1 : 0

function installsOf(name: string): string[] {
  if (name === 'workerd') return [workerd.installs]
  if (name === 'typescript') return Object.values(compilers)
  return runtimes[name] ? [runtimes[name].installs] : []
}

/** Runs one program, and holds what it did to what the emulators saw. */
async function useIn(emulators: Emulators, run: () => Promise<unknown>): Promise<void> {
  emulators.reset()
  emulators.check(await run())
}

async function report(label: string, run: () => Promise<void>): Promise<void> {
  const started = performance.now()
  try {
    await run()
    console.log(`ok      ${label} (${Math.round(performance.now() - started)} ms)`)
  } catch (error) {
    failures += 1
    console.log(`FAILED  ${label}\n${error instanceof Error ? error.message : error}`)
  }
}
