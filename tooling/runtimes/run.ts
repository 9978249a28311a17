/**
 * Runs a program on a runtime.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { workerd } from './targets.ts'

/** What the programs are told. */
export interface Addresses {
  mailUrl: string
  platformUrl: string
}

const MOST_TIME_MS = 60_000

/** @returns the outcome that the program printed */
export async function runProgram(
  project: string,
  [command = '', ...options]: readonly string[],
  { mailUrl, platformUrl }: Addresses,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, [...options, mailUrl, platformUrl], {
    cwd: project,
    timeout: MOST_TIME_MS,
    env: { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' },
  })
  return JSON.parse(stdout)
}

interface Miniflare {
  dispatchFetch(url: string): Promise<{ text(): Promise<string> }>
  dispose(): Promise<void>
}
interface MiniflareModule {
  Miniflare: new (options: object) => Miniflare
}

/** Bundles the program as for Workers, without a flag for Node's modules, and asks it once. */
export async function runInWorkerd(
  project: string,
  tools: string,
  { mailUrl, platformUrl }: Addresses,
): Promise<unknown> {
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
    compatibilityDate: workerd.compatibilityDate,
    bindings: { mailUrl, platformUrl },
    cf: false,
  })
  try {
    const answer = await (await worker.dispatchFetch('http://worker.test/')).text()
    return JSON.parse(answer)
  } finally {
    await worker.dispose()
  }
}
