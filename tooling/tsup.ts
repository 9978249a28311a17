import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

const SOURCE = '@org/source'

interface PackageJson {
  exports: Record<string, Record<string, string>>
}

/**
 * The build of every published package: one ES module for each entry of its `exports`. `tsc` writes the declarations
 * afterwards. There are no source maps: the modules are readable, and maps with sources would triple the size.
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
    // `node:sqlite` has no name without the prefix, and Deno and Workers require the prefix everywhere.
    removeNodeProtocol: false,
  }
})
