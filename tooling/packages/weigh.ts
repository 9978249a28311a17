import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build, type ImportKind, type Plugin } from 'esbuild'

/** Makes an empty project in a new folder, and installs tarballs and names into it with npm, as the READMEs say. */
export async function installInto(folder: string, specifiers: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  const limits = { cwd: folder, maxBuffer: 64 * 1024 * 1024 }
  await promisify(execFile)('npm', ['install', ...options, ...specifiers], limits)
}

/** The bytes of all files in a folder. */
export function weigh(folder: string): number {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/**
 * Bundles and minifies a program that imports a project's packages.
 *
 * @returns the gzipped bytes of all of it, and of what it loads at its start
 */
export async function weighBundle(project: string, program: string) {
  async function bytesOf(isLeftOut: (kind: ImportKind) => boolean): Promise<number> {
    const leaveOut: Plugin = {
      name: 'leave-out',
      setup: ({ onResolve }) =>
        onResolve({ filter: /./ }, ({ kind }) => (isLeftOut(kind) ? { external: true } : undefined)),
    }
    const { outputFiles } = await build({
      stdin: { contents: program, resolveDir: project },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'node',
      target: 'es2023',
      write: false,
      plugins: [leaveOut],
    })
    return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).byteLength
  }
  return { all: await bytesOf(() => false), atStart: await bytesOf((kind) => kind === 'dynamic-import') }
}
