/** Applies faults to copies of a repository, one at a time, and finds those that no test notices. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import core from './faults/core.json' with { type: 'json' }
import idp from './faults/idp.json' with { type: 'json' }
import mailer from './faults/mailer.json' with { type: 'json' }
import server from './faults/server.json' with { type: 'json' }

/** A fault that a test should notice. Paths begin at the root of the repository. */
export interface Fault {
  id: string
  file: string
  /** A text that the file has exactly once. */
  from: string
  to: string
  /** A sentence: the harm that the fault would do to a user. */
  why: string
  /** The test files that should notice it. */
  suites: readonly string[]
  /** The package that is built before, because these test files start what is built. */
  build?: string | undefined
  /** A sentence: why no test can notice it. */
  known?: string
}

/** All faults that tests should notice. */
export const allFaults: readonly Fault[] = [...core, ...mailer, ...idp, ...server]

/** The part of Vitest's JSON report that is read. */
interface Report {
  testResults: readonly { name: string; status: string; assertionResults: readonly unknown[] }[]
}

/** A program that hangs ends after so long. Most tests end sooner, by their own limit. In milliseconds. */
const LIMIT_MS = 600_000
/** Each has one fault at a time. */
const COPIES = 2
const LIMITS = ['--testTimeout=30000', '--hookTimeout=60000', '--expect.poll.timeout=10000']

/** Finds mistakes in a list of faults: a text that moved, a test file that is gone, an id that is used twice. */
export function findMistakes(faults: readonly Fault[], root: string): string[] {
  return faults.flatMap(({ id, file, from, to, suites }, at) => {
    const path = join(root, file)
    const count = existsSync(path) ? readFileSync(path, 'utf8').split(from).length - 1 : 0
    return [
      ...(count === 1 && from !== to ? [] : [`${id}: ${file} has its text ${count} times instead of once.`]),
      ...suites.flatMap((suite) => (existsSync(join(root, suite)) ? [] : [`${id}: there is no ${suite}.`])),
      ...(faults.findIndex((other) => other.id === id) < at ? [`${id}: another fault has this id.`] : []),
    ]
  })
}

/**
 * Runs the test files of each fault on a copy of the working tree that has the fault.
 *
 * @returns the faults that no test noticed
 * @throws if a test fails without a fault, or a test file does not load with one
 */
export async function findSurvivors(
  faults: readonly Fault[],
  { root, print = console.log }: { root: string; print?: (line: string) => void },
): Promise<Fault[]> {
  const copies = Array.from({ length: COPIES }, () => copyTree(root))
  const end = new AbortController()
  const cleanUp = () => {
    end.abort()
    for (const copy of copies) rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', cleanUp)
  const suites = [...new Set(faults.flatMap((fault) => fault.suites))]
  print(`${suites.length} test files run without a fault, too.`)
  // A test that fails without a fault would seem to notice every one.
  async function checkSuites(copy: string): Promise<void> {
    const build = faults.find((fault) => fault.build)?.build
    const broken = await findKiller(copy, { suites, build }, end.signal)
    if (broken) throw new Error(`${broken} fails without a fault.`)
  }
  const survivors: Fault[] = []
  const queue = faults.entries()
  async function work(copy: string): Promise<void> {
    for (const [index, fault] of queue) {
      const path = join(copy, fault.file)
      const source = readFileSync(path, 'utf8')
      const faulty = source.replace(fault.from, () => fault.to)
      writeFileSync(path, faulty)
      const killer = await findKiller(copy, fault, end.signal).catch((cause) => {
        throw new Error(`${fault.id}: ${cause.message}`, { cause })
      })
      writeFileSync(path, source)
      if (killer === undefined) survivors.push(fault)
      print(`${index + 1} of ${faults.length}  ${fault.id}  ${killer ?? 'SURVIVES'}`)
    }
  }
  try {
    const [first = '', ...others] = copies
    await Promise.all([checkSuites(first).then(() => work(first)), ...others.map(work)])
    return survivors
  } finally {
    process.off('exit', cleanUp)
    cleanUp()
  }
}

/** @returns what noticed a fault: a test file or a time limit; `undefined` if all tests pass */
async function findKiller(
  copy: string,
  { suites, build }: Pick<Fault, 'suites' | 'build'>,
  signal: AbortSignal,
) {
  const tsup = ['node_modules/tsup/dist/cli-default.js', '--silent']
  if (build && (await run(signal, join(copy, build), ...tsup)) !== 0)
    throw new Error(`${build} can’t be built.`)
  for (const [name, files] of Map.groupBy(suites, (suite) => suite.split('/', 2).join('/'))) {
    const output = join(copy, 'report.json')
    rmSync(output, { force: true })
    const options = ['run', '--bail=1', '--reporter=json', `--outputFile=${output}`, ...LIMITS]
    const paths = files.map((file) => join(copy, file))
    const code = await run(signal, join(copy, name), 'node_modules/vitest/vitest.mjs', ...options, ...paths)
    if (code === 0) continue
    if (code === null) return 'a time limit'
    const { testResults }: Report = JSON.parse(readFileSync(output, 'utf8'))
    const failed = testResults.find(({ status }) => status === 'failed')
    if (failed?.assertionResults.length === 0)
      throw new Error(`${relative(copy, failed.name)} does not load.`)
    return failed ? relative(copy, failed.name) : `an unhandled error in ${name}`
  }
  return undefined
}

/** Runs a program of a package, and returns its exit code; `null` if it took too long. */
async function run(signal: AbortSignal, cwd: string, ...program: readonly string[]): Promise<number | null> {
  // A process group, so that the processes of its tests end with it.
  const child = spawn(process.execPath, program, { cwd, detached: true, stdio: 'ignore' })
  const kill = () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL')
    } catch (error) {
      // It may have ended together with another child, whose end is told first.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
  limit.addEventListener('abort', kill)
  const [code] = await once(child, 'exit')
  limit.removeEventListener('abort', kill)
  return code
}

/** Copies the files, and the links to installed packages but not the packages. */
function copyTree(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutation-'))
  const filter = (path: string) => !/[/\\](\.git|\.pnpm|\.data|\.turbo|dist)$/.test(path)
  cpSync(root, copy, { recursive: true, verbatimSymlinks: true, filter })
  const packages = 'node_modules/.pnpm'
  if (existsSync(join(root, packages))) symlinkSync(join(root, packages), join(copy, packages))
  return copy
}
