/** The contenders as their users have them: our packages as they are published, the host as its build makes it. */
import { execFile } from 'node:child_process'
import { mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as esbuild from 'esbuild'
import { root } from '../../tooling/packages/workspace.ts'
import { putAlone } from '../deployments/bundles.ts'
import manifest from '../package.json' with { type: 'json' }
import { type LaunchOptions, makeFolder, startListening, startServer } from '../shared/processes.ts'
import { hostEnvironment } from './programs/host-environment.ts'

export type Fixture = Awaited<ReturnType<typeof createFixture>>

export async function createFixture() {
  const options = { cwd: root, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' } }
  await promisify(execFile)('pnpm', ['build'], options)
  // Below `bench`, so that programs find its packages. Version control and the formatter ignore `.data`.
  const data = join(import.meta.dirname, '../.data')
  mkdirSync(data, { recursive: true })
  const folder = makeFolder(data)
  const { file: host } = putAlone('node')

  /** Compiles a program of `programs/`, with or without the packages that it imports. */
  async function compile(name: string, external: readonly string[]): Promise<string> {
    const outfile = join(folder, `${name}.mjs`)
    await esbuild.build({
      entryPoints: [join(import.meta.dirname, 'programs', `${name}.ts`)],
      outfile,
      external: [...external],
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      logLevel: 'error',
    })
    return outfile
  }
  const program = (name: string) => compile(name, Object.keys(manifest.devDependencies))
  return {
    folder,
    /** The bundled host, for `node`. */
    host,
    program,
    /** Bundles a program with its packages, as the build of the host does. */
    bundle: (name: string) => compile(name, []),
    /** Starts the host as in production, or a server of `programs/`, with its log in a file. */
    async startServer(name: string, { environment, ...options }: LaunchOptions = {}) {
      return startServer(name === 'host' ? host : await program(name), '/healthz', {
        output: openSync(join(folder, 'servers.log'), 'a'),
        environment: { ...hostEnvironment, ...environment },
        ...options,
      })
    },
    /** Starts an emulated provider of mails, which responds after `delayMs`. */
    startProvider: async (delayMs = 0) =>
      startListening(await program('provider'), { environment: { DELAY_MS: String(delayMs) } }),
  }
}
