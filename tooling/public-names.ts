import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { type PublishablePackage, root, SOURCE_CONDITION } from './packages/workspace.ts'

/** Lists the public names of a package, such as `@org/mailer: type Mailer`. Names of `./internal` and below carry no promise. */
export function readPublicNames({ name, path, manifest }: PublishablePackage): string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, conditions]) => {
    if (subpath.startsWith('./internal')) return []
    const entry = posix.join(name, subpath)
    const file = join(root, path, conditions[SOURCE_CONDITION] ?? '')
    return readExportedNames(file, readFileSync(file, 'utf8')).map((exported) => `${entry}: ${exported}`)
  })
}

/**
 * Lists the names that a module exports, with `type` before a type.
 *
 * @throws if the module says `export *`
 */
export function readExportedNames(file: string, text: string): string[] {
  const exported = parseSync(file, text).module.staticExports.flatMap(({ entries }) => entries)
  if (exported.some(({ importName }) => importName.kind === 'AllButDefault'))
    throw new Error(`${file} says \`export *\`. List the names instead.`)
  return exported
    .map(({ exportName, isType }) => (isType ? 'type ' : '') + (exportName.name ?? 'default'))
    .sort()
}
