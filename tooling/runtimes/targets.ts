/** The runtimes of the table, and how each runs `programs/cases.mjs`. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { Miniflare } from 'miniflare'

const TIMEOUT_MS = 60_000
export const COMPATIBILITY_DATE = '2026-08-06'

/** The project with our packages and the programs, and the `node_modules` with the runtimes. */
export type Folders = Readonly<Record<'project' | 'tools', string>>

interface Runtime {
  /** The package that npm installs. */
  installs: string
  /** The command that runs a program. */
  command: (folders: Folders) => string[]
}

const node = (version: string): Runtime => {
  const name = `node${version.split('.')[0]}`
  const command = ({ tools }: Folders) => [join(tools, name, 'bin/node'), '--no-warnings']
  return { installs: `${name}@npm:node@${version}`, command }
}
const denoOptions = ['run', '--no-lock', '--allow-net', '--allow-read', '--allow-env']

/** By name. Workerd comes with this repository, and runs no commands. */
export const runtimes: Readonly<Record<string, Runtime | undefined>> = {
  // The oldest that the packages' `engines` allow.
  node22: node('22.13.0'),
  node24: node('24.9.0'),
  node26: node('26.9.0'),
  bun: { installs: 'bun@1.4.4', command: ({ tools }) => [join(tools, 'bun/bin/bun.exe')] },
  deno: {
    installs: 'deno@2.9.6',
    command: ({ tools }) => [process.execPath, join(tools, 'deno/bin.cjs'), ...denoOptions],
  },
  workerd: undefined,
}

/** @returns what the program prints */
export async function runProgram(
  [command = '', ...options]: readonly string[],
  { project }: Folders,
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, options, {
    cwd: project,
    timeout: TIMEOUT_MS,
    env: { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' },
  })
  return stdout
}

/** Runs cases on a runtime, and returns their outcomes by name as JSON. */
export async function runCases(name: string, cases: string, folders: Folders): Promise<string> {
  const command = runtimes[name]?.command(folders)
  return command
    ? runProgram([...command, 'cases.mjs', cases], folders)
    : runInWorkerd(cases, join(folders.project, 'cases.mjs'))
}

/** Bundles the program without compatibility flags for Node's modules, and sends it one request. */
async function runInWorkerd(body: string, program: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [program],
    bundle: true,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker'],
    write: false,
  })
  const worker = new Miniflare({
    modules: true,
    script: outputFiles[0]?.text ?? '',
    compatibilityDate: COMPATIBILITY_DATE,
    cf: false,
    // It logs each connection that fails.
    handleRuntimeStdio: (_: Readable, errors: Readable) => void errors.resume(),
  })
  try {
    const response = await worker.dispatchFetch('http://worker.test/', { method: 'POST', body })
    return await response.text()
  } finally {
    await worker.dispose()
  }
}
