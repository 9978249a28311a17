/**
 * Runs the program on each runtime that the packages support.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'

/** The addresses of the emulators. */
export interface Addresses {
  mailUrl: string
  platformUrl: string
}

/** Where a program runs. */
interface Place extends Addresses {
  /** The project with the packages and the programs. */
  project: string
  /** The `node_modules` with the runtimes. */
  tools: string
}

/** A way to use the packages on a runtime. */
interface Run {
  label: string
  /** @returns the outcome of the program */
  run: (place: Place) => Promise<unknown>
}

/** A runtime, as npm installs it. */
interface Runtime {
  installs: string
  runs: readonly Run[]
}

const TIMEOUT_MS = 60_000

/** The runtimes by name. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  node22: node('22.23.3'),
  node24: node('24.9.0'),
  node26: node('26.9.0'),
  bun: {
    installs: 'bun@1.4.4',
    runs: [command('import', (tools) => [join(tools, 'bun/bin/bun.exe'), 'import.mjs'])],
  },
  deno: {
    installs: 'deno@2.9.6',
    runs: [
      command('import', (tools) => [
        ...[process.execPath, join(tools, 'deno/bin.cjs')],
        ...['run', '--no-lock', '--allow-net', '--allow-read', '--allow-env', 'import.mjs'],
      ]),
    ],
  },
  workerd: {
    installs: 'miniflare@4.20260730.0',
    runs: [{ label: 'import', run: runInWorkerd }],
  },
}

function node(version: string): Runtime {
  const name = `node${version.split('.')[0]}`
  const programs = { import: 'import.mjs', require: 'require.cjs' }
  return {
    installs: `${name}@npm:node@${version}`,
    runs: Object.entries(programs).map(([label, program]) =>
      command(label, (tools) => [join(tools, name, 'bin/node'), '--no-warnings', program]),
    ),
  }
}

function command(label: string, words: (tools: string) => string[]): Run {
  return {
    label,
    async run({ project, tools, mailUrl, platformUrl }) {
      const [file = '', ...options] = words(tools)
      const { stdout } = await promisify(execFile)(file, [...options, mailUrl, platformUrl], {
        cwd: project,
        timeout: TIMEOUT_MS,
        env: { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' },
      })
      return JSON.parse(stdout)
    },
  }
}

interface MiniflareModule {
  Miniflare: new (
    options: object,
  ) => { dispatchFetch(url: string): Promise<{ text(): Promise<string> }>; dispose(): Promise<void> }
}

/** Bundles the program without compatibility flags for Node's modules, and sends it one request. */
async function runInWorkerd({ project, tools, mailUrl, platformUrl }: Place): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: [join(project, 'worker.mjs')],
    bundle: true,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker'],
    write: false,
  })
  const folder = join(tools, 'miniflare')
  const { main }: { main: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { Miniflare }: MiniflareModule = await import(pathToFileURL(join(folder, main)).href)
  const worker = new Miniflare({
    modules: true,
    script: outputFiles[0]?.text,
    compatibilityDate: '2026-08-06',
    bindings: { mailUrl, platformUrl },
    cf: false,
  })
  try {
    const response = await worker.dispatchFetch('http://worker.test/')
    return JSON.parse(await response.text())
  } finally {
    await worker.dispose()
  }
}
