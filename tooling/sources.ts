import { globSync, readFileSync } from 'node:fs'
import { parseSync } from 'oxc-parser'

export type Sources = ReadonlyMap<string, string>

export function readSources(root: string): Sources {
  const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: root })
  return new Map(files.map((file) => [file, readFileSync(`${root}/${file}`, 'utf8')]))
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
