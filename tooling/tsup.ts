import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

/** The condition under which a package is read from its sources, without a build. */
const SOURCE = '@org/source'

interface PackageJson {
  exports: Record<string, Record<string, string>>
}

/**
 * How every publishable package is built: one ES module per entry of its `exports`, so that the files and
 * the public subpaths cannot disagree. Declarations come from `tsc`, which runs after it. No source maps: what
 * is built is readable as it is, and the maps with their sources weighed twice as much as everything else.
 */
export default defineConfig(() => {
  const { exports }: PackageJson = JSON.parse(readFileSync('package.json', 'utf8'))
  const entry = Object.values(exports).flatMap((conditions) => conditions[SOURCE] ?? [])
  return {
    entry,
    outDir: 'dist',
    format: 'esm',
    target: 'es2023',
    dts: false,
    clean: true,
    // `node:sqlite` exists under its full name alone, and Deno and Workers want the prefix for all.
    removeNodeProtocol: false,
  }
})
