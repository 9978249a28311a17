import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { workerd } from './targets.ts'

const TIMEOUT_MS = 60_000

/** @returns the outcome that the program prints */
export async function runProgram(
  [command = '', ...options]: readonly string[],
  project: string,
): Promise<unknown> {
  const { stdout } = await promisify(execFile)(command, options, {
    cwd: project,
    timeout: TIMEOUT_MS,
    env: { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' },
  })
  return JSON.parse(stdout)
}

interface MiniflareModule {
  Miniflare: new (
    options: object,
  ) => {
    dispatchFetch(url: string, init: RequestInit): Promise<{ text(): Promise<string> }>
    dispose(): Promise<void>
  }
}

/** Bundles the program without compatibility flags for Node's modules, and sends it one request. */
export async function runInWorkerd(tools: string, program: string, body: string): Promise<unknown> {
  const { outputFiles } = await build({
    entryPoints: [program],
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
    cf: false,
    // It logs each connection that fails.
    handleRuntimeStdio: (_: unknown, errors: { resume(): void }) => void errors.resume(),
  })
  try {
    const response = await worker.dispatchFetch('http://worker.test/', { method: 'POST', body })
    return JSON.parse(await response.text())
  } finally {
    await worker.dispose()
  }
}
