/**
 * The imports of every file in the repository's packages, read from the sources.
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
  /** The path of a file, the name of a package, or a `node:` module. */
  to: string
  /** As the file writes it. */
  specifier: string
}

/** Reads the sources and the `package.json` files below a folder. */
export function readSources(root: string): Sources {
  const files = globSync(['{packages,apps}/*/src/**/*.ts', '{packages,apps}/*/package.json'], { cwd: root })
  return new Map(files.map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]))
}

/** Reads every import of every source: static, dynamic, re-exports, and imports of types. */
export function readImports(sources: Sources): Import[] {
  const entries = readEntries(sources)
  return [...sources].flatMap(([from, text]) => {
    if (!from.endsWith('.ts')) return []
    return readSpecifiers(from, text).map((specifier) => ({
      from,
      specifier,
      to: resolve(from, specifier, entries),
    }))
  })
}

/** The specifiers that a module imports, each once. */
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

/** The package that a specifier names; a `node:` module stays as it is. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Everything that a file loads, directly or not, each with the path to it. */
export function reachableFrom(entry: string, imports: readonly Import[]): Map<string, string[]> {
  const paths = new Map<string, string[]>([[entry, [entry]]])
  for (const [file, path] of paths) {
    for (const { from, to } of imports) {
      if (from === file && !paths.has(to)) paths.set(to, [...path, to])
    }
  }
  return paths
}

/**
 * Finds files that load each other.
 *
 * @returns each circle as a path whose first and last file are the same
 */
export function findCircles(imports: readonly Pick<Import, 'from' | 'to'>[]): string[][] {
  const circle = findCircle(imports)
  if (circle.length === 0) return []
  const [, second] = circle
  const others = imports.filter(({ from, to }) => from !== circle[0] || to !== second)
  return [circle, ...findCircles(others)]
}

function findCircle(imports: readonly Pick<Import, 'from' | 'to'>[]): string[] {
  // A file that imports none of the files that are left is in no circle.
  let left = imports
  for (let before = 0; before !== left.length; ) {
    before = left.length
    const importing = new Set(left.map(({ from }) => from))
    left = left.filter(({ to }) => importing.has(to))
  }
  const next = new Map(left.map(({ from, to }) => [from, to]))
  const path = [...next.keys()].slice(0, 1)
  for (const file of path) {
    const to = next.get(file) ?? file
    if (path.includes(to)) return [...path.slice(path.indexOf(to)), to]
    path.push(to)
  }
  return []
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
