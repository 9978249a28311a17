/**
 * What is measured, as its users have it: our packages packed and unpacked again, the host as its build makes
 * it, the peers as they are published; all below one temporary folder, so that nothing that is built meanwhile
 * changes a run.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../..')
const packed = ['core', 'mailer', 'idp'] as const

/** A folder in which programs find everything that they import. */
export interface Arrangement {
  folder: string
  /** The bundled host, `node <file>`. */
  host: string
  /** Makes a program of `bench/` runnable here; what it imports from packages stays outside of it. */
  program(source: string): Promise<string>
  /** The same with everything inside, by the options of the host's own build. */
  bundle(source: string): Promise<string>
  remove(): void
}

/** Builds, packs and unpacks. */
export async function arrange(say: (line: string) => void): Promise<Arrangement> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  say('building …')
  const filters = [...packed, 'server'].map((name) => `--filter=@org/${name}`)
  const options = { cwd: repository, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' } }
  await run('pnpm', ['exec', 'turbo', 'run', 'build', ...filters], options).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`)
  })
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@org'), { recursive: true })
  for (const name of packed) await unpack(name, join(modules, '@org', name), folder)
  for (const from of ['bench', 'apps/server']) linkModules(join(repository, from, 'node_modules'), modules)
  cpSync(join(repository, 'apps/server/dist'), join(folder, 'host'), { recursive: true })

  async function compile(source: string, outfile: string, inside: boolean): Promise<string> {
    await build({
      entryPoints: [join(repository, 'bench', source)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node22',
      sourcemap: true,
      packages: inside ? 'bundle' : 'external',
      conditions: inside ? ['@org/source', 'module', 'node'] : ['node'],
      ...(inside ? { banner: { js: commonJs } } : {}),
      logLevel: 'error',
    })
    return outfile
  }
  const named = (source: string) => source.replaceAll(/[/.]/g, '-')
  return {
    folder,
    host: join(folder, 'host/node.js'),
    program: (source) => compile(source, join(folder, `${named(source)}.mjs`), false),
    bundle: (source) => compile(source, join(folder, 'bundles', `${named(source)}.mjs`), true),
    remove,
  }
}

/** For the CommonJS packages inside a bundle. */
const commonJs =
  "import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)"

async function unpack(name: string, target: string, folder: string): Promise<void> {
  const tarball = join(folder, `${name}.tgz`)
  await run('pnpm', ['pack', '--out', tarball], { cwd: join(repository, 'packages', name) })
  mkdirSync(target)
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target])
}

/** Every package of a workspace's node_modules but our own. */
function linkModules(from: string, to: string): void {
  const names = readdirSync(from).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(from, name)).map((inner) => `${name}/${inner}`) : name,
  )
  for (const name of names.filter((name) => !name.startsWith('@org/') && !name.startsWith('.'))) {
    mkdirSync(join(to, name, '..'), { recursive: true })
    try {
      symlinkSync(realpathSync(join(from, name)), join(to, name))
    } catch (error) {
      // Both workspaces have it, and the catalog holds both to one version.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
  }
}
