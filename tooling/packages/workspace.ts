import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The fields of a `package.json` with dependencies, as ranges by name. */
export const dependencyFields = [
  'dependencies',
  'peerDependencies',
  'optionalDependencies',
  'devDependencies',
] as const

/** The fields of a `package.json` that the checks read. */
export interface Manifest extends Partial<Record<(typeof dependencyFields)[number], Record<string, string>>> {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, Record<string, string>>
}

export type PublishablePackage = ReturnType<typeof findPublishable>[number]

/** The export condition that leads to a package's sources. It exists only in this repository. */
export const SOURCE_CONDITION = '@org/source'

export const root = join(import.meta.dirname, '../..')

/** Every package below `packages/` that is not private, by name, with its path from the root. */
export function findPublishable() {
  return globSync('packages/*/package.json', { cwd: root })
    .map((file) => ({ path: dirname(file), manifest: readManifest(join(root, file)) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ path, manifest }) => ({ name: manifest.name, path, manifest }))
    .sort((one, other) => one.name.localeCompare(other.name))
}

export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}
