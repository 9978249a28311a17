/**
 * What a package promises: the names that each of its entries exports, with those that are only types.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { type PublishablePackage, root, SOURCE_CONDITION } from './packages/workspace.ts'

/** One line for each name, such as `@org/mailer: type Mailer`. */
export function readPublicNames({ name, path, manifest }: PublishablePackage): string[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, conditions]) => {
    const entry = posix.join(name, subpath)
    const file = join(root, path, conditions[SOURCE_CONDITION] ?? '')
    return readExportedNames(file, readFileSync(file, 'utf8')).map((exported) => `${entry}: ${exported}`)
  })
}

/**
 * The names that a module exports; a type has `type` before it.
 *
 * @throws where it exports names that are not written in it
 */
export function readExportedNames(file: string, text: string): string[] {
  const exported = parseSync(file, text).module.staticExports.flatMap(({ entries }) => entries)
  if (exported.some(({ importName }) => importName.kind === 'AllButDefault'))
    throw new Error(`${file} says \`export *\`: an entry names what it exports.`)
  return exported
    .map(({ exportName, isType }) => (isType ? 'type ' : '') + (exportName.name ?? 'default'))
    .sort()
}
