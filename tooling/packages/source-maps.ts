import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Removes each source map in `dist` that names a file outside the package.
 *
 * @param published the `files` of the `package.json`
 */
export function removeMapsWithoutSources(published: readonly string[]): void {
  const isPublished = (file: string) => published.some((path) => file === path || file.startsWith(`${path}/`))
  for (const map of globSync('dist/**/*.map')) {
    const { sources }: { sources: string[] } = JSON.parse(readFileSync(map, 'utf8'))
    if (sources.every((source) => isPublished(join(dirname(map), source)))) continue
    const file = map.replace(/\.map$/, '')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''))
    rmSync(map)
  }
}
