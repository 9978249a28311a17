import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { workerd } from './targets.ts'

/** The project with the programs, and the addresses that they call. */
type Place = Record<'project' | 'mailUrl' | 'platformUrl', string>

const TIMEOUT_MS = 60_000

/** @returns the outcome that the program prints */
export async function runProgram(
  [command = '', ...options]: readonly string[],
  { project, mailUrl, platformUrl }: Place,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, [...options, mailUrl, platformUrl], {
    cwd: project,
    timeout: TIMEOUT_MS,
    env: { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' },
  })
  return JSON.parse(stdout)
}

interface MiniflareModule {
  Miniflare: new (
    options: object,
  ) => { dispatchFetch(url: string): Promise<{ text(): Promise<string> }>; dispose(): Promise<void> }
}

/** Bundles the program without compatibility flags for Node's modules, and sends it one request. */
export async function runInWorkerd(
  tools: string,
  { project, mailUrl, platformUrl }: Place,
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
    const response = await worker.dispatchFetch('http://worker.test/')
    return JSON.parse(await response.text())
  } finally {
    await worker.dispose()
  }
}
