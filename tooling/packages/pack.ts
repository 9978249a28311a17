import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { findPublishable, readManifest, root } from './workspace.ts'

export type PackedPackage = Awaited<ReturnType<typeof unpack>>

const run = promisify(execFile)

/**
 * Packs every published package with pnpm, which replaces `workspace:` and `catalog:`. The packages must be built.
 *
 * @param target an existing folder
 */
export async function packAll(target: string) {
  return Promise.all(
    findPublishable().map(async ({ name, path }) => {
      const folder = join(target, path)
      await mkdir(folder, { recursive: true })
      const tarball = join(folder, 'package.tgz')
      await run('pnpm', ['pack', '--out', tarball], { cwd: join(root, path) })
      return unpack(name, tarball, folder)
    }),
  )
}

/** @returns the path of the content, and the paths of its files, relative to the folder */
async function unpack(name: string, tarball: string, parent: string) {
  await run('tar', ['-xzf', tarball, '-C', parent])
  // npm's tarballs have one folder, with this name.
  const folder = join(parent, 'package')
  const files = globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()
  return { name, tarball, folder, files, manifest: readManifest(join(folder, 'package.json')) }
}

/**
 * Lists the entries of a package, as a program imports them.
 *
 * @param condition leaves out the entries without this condition
 */
export function entriesOf({ name, manifest }: PackedPackage, condition = 'default'): string[] {
  return Object.entries(manifest.exports ?? {})
    .filter(([, conditions]) => conditions[condition])
    .map(([subpath]) => posix.join(name, subpath))
}
