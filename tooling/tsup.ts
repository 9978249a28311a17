import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { writeCommonJs } from './packages/commonjs.ts'

interface PackageJson {
  exports: Record<string, Partial<Record<'@org/source' | 'require', string>>>
}

/**
 * The build of every published package: one ES module for each entry of its `exports` and for each program of a
 * thread, a CommonJS module too if the entry has the condition `require`, and the declarations.
 */
export default defineConfig(() => {
  const { exports }: PackageJson = JSON.parse(readFileSync('package.json', 'utf8'))
  const entries = Object.values(exports)
  return {
    entry: [
      ...entries.flatMap((conditions) => conditions['@org/source'] ?? []),
      ...globSync('src/**/*-worker.ts'),
    ],
    outDir: 'dist',
    format: 'esm',
    target: 'es2023',
    dts: false,
    clean: true,
    async onSuccess() {
      // Each of several checkers would check again what most files share.
      execFileSync('tsc', ['-p', 'tsconfig.build.json', '--checkers', '1'], { stdio: 'inherit' })
      await writeCommonJs(entries.flatMap((conditions) => conditions.require ?? []))
    },
    // `node:sqlite` has no name without the prefix, and Deno and Workers require the prefix everywhere.
    removeNodeProtocol: false,
  }
})
