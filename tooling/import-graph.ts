/**
 * Which file imports what, across the packages of the repository, read from the sources.
 *
 * @module
 */
import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

/** Sources by their path from the root of the repository. */
export type Sources = ReadonlyMap<string, string>

/** One import: from a file to a file of the repository, or to a package from outside. */
export interface Import {
  from: string
  /** The path of a file, or the name of a package; `node:` modules keep their prefix. */
  to: string
  /** As it is written. */
  specifier: string
}

/** Reads the sources, and the packages' `exports`, below a folder. */
export function readSources(root: string): Sources {
  const files = globSync(
    ['packages/*/src/**/*.ts', 'apps/*/src/**/*.{ts,tsx}', '{packages,apps}/*/package.json'],
    {
      cwd: root,
    },
  )
  return new Map(files.map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]))
}

/** Every import of every source: static, dynamic, re-exports, and those of types alone. */
export function readImports(sources: Sources): Import[] {
  const entries = readEntries(sources)
  return [...sources].flatMap(([from, text]) => {
    if (!/\.tsx?$/.test(from)) return []
    return readSpecifiers(from, text).map((specifier) => ({
      from,
      specifier,
      to: resolve(from, specifier, entries),
    }))
  })
}

/** What a module imports, as it is written, each once. */
export function readSpecifiers(file: string, text: string): string[] {
  const { module } = parseSync(file, text)
  return [
    ...new Set([
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ),
      ...module.dynamicImports.map(({ moduleRequest }) =>
        text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/^['"`]|['"`]$/g, ''),
      ),
    ]),
  ]
}

/** The package that a specifier names; `node:` modules keep their prefix. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Everything that a file loads, directly or not, with the way to it. */
export function reachableFrom(entry: string, imports: readonly Import[]): Map<string, string[]> {
  const ways = new Map<string, string[]>([[entry, [entry]]])
  for (const [file, way] of ways) {
    for (const { from, to } of imports) {
      if (from === file && !ways.has(to)) ways.set(to, [...way, to])
    }
  }
  return ways
}

/** The file behind each `@org/…` name, from the source condition of the packages' `exports`. */
function readEntries(sources: Sources): Map<string, string> {
  const entries = new Map<string, string>()
  for (const [file, text] of sources) {
    if (!file.endsWith('package.json')) continue
    const { name, exports = {} }: { name: string; exports?: Record<string, Record<string, string>> } =
      JSON.parse(text)
    for (const [subpath, conditions] of Object.entries(exports)) {
      const source = conditions['@org/source']
      if (source) entries.set(posix.join(name, subpath), posix.join(posix.dirname(file), source))
    }
  }
  return entries
}

function resolve(from: string, specifier: string, entries: Map<string, string>): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier)
  const entry = entries.get(specifier)
  if (entry) return entry
  return packageOf(specifier)
}
