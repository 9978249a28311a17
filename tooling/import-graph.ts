import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

export type Sources = ReadonlyMap<string, string>

export interface Import {
  from: string
  /** The path of a file, the name of a package, or a `node:` module. */
  to: string
  /** As the file writes it. */
  specifier: string
}

type Edge = Pick<Import, 'from' | 'to'>

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
export function reachableFrom(entry: string, imports: readonly Edge[]): Map<string, string[]> {
  const edges = Map.groupBy(imports, ({ from }) => from)
  const paths = new Map([[entry, [entry]]])
  for (const [file, path] of paths) {
    for (const { to } of edges.get(file) ?? []) {
      if (!paths.has(to)) paths.set(to, [...path, to])
    }
  }
  return paths
}

/**
 * Finds files that load each other.
 *
 * @returns each circle as a path whose first and last file are the same
 */
export function findCircles(imports: readonly Edge[]): string[][] {
  const circles = imports.flatMap(({ from, to }) => {
    const back = reachableFrom(to, imports).get(from)
    return back ? [[from, ...back]] : []
  })
  return [...new Map(circles.map((circle) => [[...new Set(circle)].sort().join(), circle])).values()]
}

/** The source file of each `@org/…` specifier, from the packages' `exports`. */
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
  return entries.get(specifier) ?? packageOf(specifier)
}
