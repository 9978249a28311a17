/** The packages of this repository that are published. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The fields of a `package.json` that the checks read. */
export interface Manifest {
  name: string
  version: string
  private?: boolean
  exports?: Record<string, Record<string, string>>
  publishConfig?: { exports?: Record<string, Record<string, string>> }
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

/** A package that is published. */
export interface PublishablePackage {
  name: string
  /** From the root of the repository, for example `packages/mailer`. */
  path: string
  manifest: Manifest
}

/** The export condition that leads to a package's sources. It exists only in this repository. */
export const SOURCE_CONDITION = '@org/source'

/** The root of this repository. */
export const root = join(import.meta.dirname, '../..')

/** Every package below `packages/` that is not private, by name. */
export function findPublishable(repository = root): PublishablePackage[] {
  return globSync('packages/*/package.json', { cwd: repository })
    .map((file) => ({ path: dirname(file), manifest: readManifest(join(repository, file)) }))
    .filter(({ manifest }) => manifest.private !== true)
    .map(({ path, manifest }) => ({ name: manifest.name, path, manifest }))
    .sort((one, other) => one.name.localeCompare(other.name))
}

/** Reads a package.json. */
export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8'))
}
