import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { readManifest } from './workspace.ts'

const run = promisify(execFile)

/** Makes an empty project in a new folder, and installs tarballs and names into it with npm, as the READMEs say. */
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
 * Bundles and minifies a program that imports a project's packages.
 *
 * @returns the gzipped bytes that it loads at its start, and those that it loads when they are needed
 */
export async function bundle(project: string, program: string): Promise<{ atStart: number; later: number }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: program, resolveDir: project },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    outdir: project,
    absWorkingDir: project,
    metafile: true,
    write: false,
  })
  const sizes = new Map(
    outputFiles.map(({ path, contents }) => [
      relative(project, path),
      gzipSync(contents, { level: 9 }).byteLength,
    ]),
  )
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { path, kind } of metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement') load(path)
  }
  load('stdin.js')
  const sum = (isWanted: (file: string) => boolean) =>
    [...sizes].reduce((bytes, [file, size]) => bytes + (isWanted(file) ? size : 0), 0)
  return { atStart: sum((file) => loaded.has(file)), later: sum((file) => !loaded.has(file)) }
}
