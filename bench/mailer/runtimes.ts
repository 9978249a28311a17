/**
 * On which runtimes each SDK sends: one mail from a program of its own, counted by the server.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { build } from 'esbuild'
import { installInto } from '../../tooling/packages/weigh.ts'
import { runtimes, workerd } from '../../tooling/runtimes/targets.ts'
import { startHttpProvider } from './http-provider.ts'
import type { Installed } from './install.ts'
import type { Peer } from './peers.ts'
import type { Row } from './row.ts'
import { startSmtpProvider } from './smtp-provider.ts'

const run = promisify(execFile)
const MOST_TIME_MS = 30_000

/** Tells whether a program, given a port, sends a mail there. */
type Attempt = (installed: Installed, port: number) => Promise<unknown>

/** A row for each runtime. */
export async function runtimeRows(installed: readonly Installed[], folder: string): Promise<Row[]> {
  const tools = join(folder, 'tools')
  const { bun, deno } = runtimes
  if (!bun || !deno) throw new Error('The runtimes have other names now.')
  await installInto(tools, [bun.installs, deno.installs, workerd.installs])
  const modules = join(tools, 'node_modules')
  const command = (parts: readonly string[] | undefined): Attempt => {
    const [file = '', ...options] = (parts ?? []).slice(0, -1)
    return ({ project }, port) => runFile(file, [...options, 'send.mjs', String(port)], project)
  }
  for (const { peer, project } of installed) {
    await writeFile(join(project, 'send.mjs'), `import * as sdk from '${peer.name}'\n${toProgram(peer)}`)
    await writeFile(
      join(project, 'send.cjs'),
      `const sdk = require('${peer.name}')\n;(async () => {\n${toProgram(peer)}\n})()`,
    )
  }
  const attempts: [string, Attempt][] = [
    ['Node, `import`', ({ project }, port) => runFile(process.execPath, ['send.mjs', String(port)], project)],
    [
      'Node, `require`',
      ({ project }, port) => runFile(process.execPath, ['send.cjs', String(port)], project),
    ],
    ['Bun', command(bun.programs.import?.(modules))],
    ['Deno', command(deno.programs.import?.(modules))],
    ['Workers (workerd)', (sdk, port) => runInWorkerd(sdk, port, modules, [])],
    ['Workers with `nodejs_compat`', (sdk, port) => runInWorkerd(sdk, port, modules, ['nodejs_compat'])],
  ]
  const rows: Row[] = []
  for (const [title, attempt] of attempts) {
    const cells: string[] = []
    for (const sdk of installed) cells.push(await tell(sdk, attempt))
    rows.push({ title, cells })
  }
  return rows
}

async function tell(sdk: Installed, attempt: Attempt): Promise<string> {
  const provider = await (sdk.peer.protocol === 'smtp' ? startSmtpProvider() : startHttpProvider())
  try {
    await attempt(sdk, provider.port)
    return provider.accepted === 1 ? 'sends' : 'does not send'
  } catch (error) {
    return provider.accepted === 1 ? 'sends' : `does not send: ${reasonOf(error)}`
  } finally {
    provider.close()
  }
}

function toProgram({ statement }: Peer): string {
  return `const port = Number((globalThis.Deno?.args ?? process.argv.slice(2)).at(-1))\n${statement}`
}

function runFile(file: string, options: readonly string[], cwd: string): Promise<unknown> {
  const env = { ...process.env, NODE_OPTIONS: '', DENO_NO_UPDATE_CHECK: '1' }
  return run(file, options, { cwd, timeout: MOST_TIME_MS, env })
}

async function runInWorkerd(
  { peer, project }: Installed,
  port: number,
  modules: string,
  flags: readonly string[],
): Promise<unknown> {
  const compatible = flags.length > 0
  const { outputFiles } = await build({
    stdin: {
      contents: `import * as sdk from '${peer.name}'
        export default { async fetch() { const port = ${port}; ${peer.statement}; return new Response('done') } }`,
      resolveDir: project,
    },
    bundle: true,
    format: 'esm',
    target: 'es2023',
    conditions: ['workerd', 'worker'],
    write: false,
    logLevel: 'silent',
    // What only Node has stays an import there: with the flag, the runtime brings it.
    ...(compatible ? { platform: 'node', banner: { js: REQUIRE }, mainFields: ['module', 'main'] } : {}),
  })
  const script = join(project, `worker${flags.length}.mjs`)
  await writeFile(script, outputFiles[0]?.contents ?? '')
  const folder = join(modules, 'miniflare')
  const { main }: { main: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const options = {
    modules: [{ type: 'ESModule', path: script }],
    modulesRoot: project,
    compatibilityDate: workerd.compatibilityDate,
    compatibilityFlags: flags,
    cf: false,
  }
  const host = join(project, 'host.mjs')
  await writeFile(
    host,
    `import miniflare from ${JSON.stringify(join(folder, main))}
    const worker = new miniflare.Miniflare(${JSON.stringify(options)})
    const answer = await worker.dispatchFetch('http://worker.test/')
    const text = await answer.text()
    await worker.dispose()
    if (text !== 'done') { console.error(text); process.exit(1) }`,
  )
  return runFile(process.execPath, [host], project)
}

const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire('/');"

/** The line that says why. */
function reasonOf(error: unknown): string {
  const text =
    error instanceof Error ? `${Reflect.get(error, 'stderr') ?? ''}\n${error.message}` : String(error)
  const lines = stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trim())
  const line = lines.find((each) => /error/i.test(each)) ?? lines[0] ?? ''
  return `“${line.replaceAll(/\S*\/\S*/g, '…').slice(0, 120)}”`
}
