/**
 * The contenders as their users have them, in one temporary folder: our packages packed and unpacked, the host as
 * its build makes it, the peers as they are published. A build that happens during a run changes nothing.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as esbuild from 'esbuild'
import { build, pack, repository } from '../shared/packages.ts'
import { type LaunchOptions, type ServerProcess, startServer } from '../shared/processes.ts'
import { hostEnvironment } from './programs/host-environment.ts'

const run = promisify(execFile)
const packed = ['core', 'mailer', 'idp'] as const

/** A folder in which programs find everything that they import. */
export interface Fixture {
  folder: string
  /** The bundled host, for `node`. */
  host: string
  /** Compiles a program of `programs/`; its packages stay outside. */
  program(name: string): Promise<string>
  /** Bundles a program with its packages, as the build of the host does. */
  bundle(name: string): Promise<string>
  /** Starts the host as in production, with its log in a file. */
  startHost(options?: LaunchOptions): Promise<ServerProcess>
  /** Starts `programs/verifying-server.ts` of a kind, with its log in a file. */
  startVerifying(kind: string, options?: LaunchOptions): Promise<ServerProcess>
  /** Starts the emulated providers, which answer after `delayMs`. */
  startProvider(delayMs?: number): Promise<ServerProcess>
}

/** Builds, packs and unpacks. */
export async function createFixture(): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  await build([...packed, 'server'])
  const modules = join(folder, 'node_modules')
  for (const name of packed) {
    const target = join(modules, '@org', name)
    mkdirSync(target, { recursive: true })
    await run('tar', ['-xzf', await pack(name, folder), '--strip-components=1', '-C', target])
  }
  for (const from of ['bench', 'apps/server']) linkModules(join(repository, from, 'node_modules'), modules)
  cpSync(join(repository, 'apps/server/dist'), join(folder, 'host'), { recursive: true })

  async function compile(name: string, inside: boolean): Promise<string> {
    const outfile = join(folder, inside ? 'bundles' : '', `${name}.mjs`)
    await esbuild.build({
      entryPoints: [join(import.meta.dirname, 'programs', `${name}.ts`)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      packages: inside ? 'bundle' : 'external',
      conditions: inside ? ['@org/source', 'module', 'node'] : ['node'],
      ...(inside ? { banner: { js: REQUIRE } } : {}),
      logLevel: 'error',
    })
    return outfile
  }
  const logFile = () => openSync(join(folder, 'servers.log'), 'a')
  const fixture: Fixture = {
    folder,
    host: join(folder, 'host/node.js'),
    program: (name) => compile(name, false),
    bundle: (name) => compile(name, true),
    startHost: ({ environment, ...options } = {}) =>
      startServer(fixture.host, '/healthz', {
        output: logFile(),
        environment: { ...hostEnvironment, ...environment },
        ...options,
      }),
    startVerifying: async (kind, options) =>
      startServer(await fixture.program('verifying-server'), '/healthz', {
        output: logFile(),
        parameters: [kind],
        ...options,
      }),
    startProvider: async (delayMs = 0) =>
      startServer(await fixture.program('provider'), '/server', {
        environment: { DELAY_MS: String(delayMs) },
      }),
  }
  return fixture
}

/** The CommonJS packages in a bundle need `require`. */
const REQUIRE =
  "import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)"

/** Links every package of a workspace's node_modules except ours. */
function linkModules(from: string, to: string): void {
  const names = readdirSync(from).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(from, name)).map((inner) => `${name}/${inner}`) : name,
  )
  for (const name of names.filter((name) => !name.startsWith('@org/') && !name.startsWith('.'))) {
    mkdirSync(join(to, name, '..'), { recursive: true })
    try {
      symlinkSync(realpathSync(join(from, name)), join(to, name))
    } catch (error) {
      // Both workspaces have the package; the catalog gives both the same version.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}
