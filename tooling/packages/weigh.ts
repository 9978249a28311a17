import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { readManifest } from './workspace.ts'

const run = promisify(execFile)

/**
 * Makes an empty project, and installs into it with npm, as the READMEs say.
 *
 * @param folder does not exist yet
 * @param specifiers tarballs, and names from the registry with or without a version
 */
export async function installInto(folder: string, specifiers: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
  await run('npm', ['install', ...options, ...specifiers], { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
}

/** Lists the packages in a project's `node_modules`, each with the size of its files in bytes. */
export function listInstalled(project: string): { name: string; bytes: number }[] {
  const modules = join(project, 'node_modules')
  return globSync(['{*,@*/*}/package.json', '**/node_modules/{*,@*/*}/package.json'], { cwd: modules })
    .map((file) => join(modules, file, '..'))
    .map((folder) => ({ name: readManifest(join(folder, 'package.json')).name, bytes: weigh(folder) }))
    .sort((one, other) => one.name.localeCompare(other.name))
}

function weigh(folder: string): number {
  return globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/**
 * Bundles and minifies a program with its imports.
 *
 * @param project the folder whose packages the program imports
 * @returns the size of the bundle in bytes, plain and as gzip
 */
export async function bundle(project: string, program: string): Promise<{ bytes: number; gzip: number }> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    write: false,
  })
  const contents = outputFiles[0]?.contents ?? new Uint8Array()
  return { bytes: contents.byteLength, gzip: gzipSync(contents, { level: 9 }).byteLength }
}
