import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The root of this repository. */
export const repository = join(import.meta.dirname, '../..')

/** Builds packages, and whatever else is named, with the packages that they need. */
export async function build(names: readonly string[]): Promise<void> {
  const filters = names.map((name) => `--filter=@org/${name}`)
  const options = { cwd: repository, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' } }
  await run('pnpm', ['exec', 'turbo', 'run', 'build', ...filters], options).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`)
  })
}

/**
 * Packs a package that is built, as it would be published.
 *
 * @returns the tarball
 */
export async function pack(name: string, folder: string): Promise<string> {
  const tarball = join(folder, `${name}.tgz`)
  await run('pnpm', ['pack', '--out', tarball], { cwd: join(repository, 'packages', name) })
  return tarball
}
