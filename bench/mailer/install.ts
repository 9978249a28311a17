/**
 * Installs each SDK alone into an empty project, and weighs it: what is installed, what is bundled, and how
 * long it takes to load.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { installInto, listInstalled } from '../../tooling/packages/weigh.ts'
import { readManifest } from '../../tooling/packages/workspace.ts'
import type { Peer } from './peers.ts'
import type { Row } from './row.ts'
import { kilobytes, median } from './statistics.ts'

const run = promisify(execFile)
const repository = join(import.meta.dirname, '../..')

/** An SDK in a project of its own. */
export interface Installed {
  peer: Peer
  project: string
  version: string
}

/** Builds and packs ours, and installs every SDK alone, as its newest version that npm has. */
export async function installAll(peers: readonly Peer[], folder: string): Promise<Installed[]> {
  const tarballs: string[] = []
  for (const name of ['core', 'mailer']) {
    const cwd = join(repository, 'packages', name)
    const tarball = join(folder, `${name}.tgz`)
    await run('pnpm', ['run', 'build'], { cwd })
    await run('pnpm', ['pack', '--out', tarball], { cwd })
    tarballs.push(tarball)
  }
  const installed: Installed[] = []
  for (const peer of peers) {
    const project = join(folder, peer.name.replaceAll(/\W+/g, '-'))
    await installInto(project, peer.name === '@org/mailer' ? tarballs : [`${peer.name}@latest`])
    const { version } = readManifest(join(project, 'node_modules', peer.name, 'package.json'))
    installed.push({ peer, project, version })
  }
  return installed
}

/** What it weighs: installed, and bundled. */
export async function weightRows(installed: readonly Installed[]): Promise<Row[]> {
  const lists = installed.map(({ project }) => listInstalled(project))
  const bundles = await Promise.all(installed.map(({ peer, project }) => bundle(project, peer.program)))
  return [
    {
      title: 'Installed',
      cells: lists.map((list) => {
        const bytes = list.reduce((sum, item) => sum + item.bytes, 0)
        return `${list.length} ${list.length === 1 ? 'package' : 'packages'}, ${kilobytes(bytes)}`
      }),
    },
    {
      title: 'The smallest program that sends, bundled',
      cells: bundles.map(({ bytes, gzip }) => `${kilobytes(gzip)} gzip (${kilobytes(bytes)})`),
      note: 'esbuild, minified, one file, `platform: node`.',
    },
  ]
}

async function bundle(project: string, program: string): Promise<{ bytes: number; gzip: number }> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    write: false,
    logLevel: 'error',
  })
  const contents = outputFiles[0]?.contents ?? new Uint8Array()
  return { bytes: contents.byteLength, gzip: gzipSync(contents, { level: 9 }).byteLength }
}

/** How long it takes to load: in fresh processes, one SDK after another, so that all meet the same machine. */
export async function importRow(installed: readonly Installed[], rounds: number): Promise<Row> {
  const times = installed.map((): number[] => [])
  const files = await Promise.all(
    installed.map(async ({ peer, project }) => {
      const file = join(project, 'import.mjs')
      await mkdir(project, { recursive: true })
      await writeFile(
        file,
        `const began = performance.now(); await import('${peer.name}'); console.log(performance.now() - began)`,
      )
      return file
    }),
  )
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, file] of files.entries()) {
      const { stdout } = await run(process.execPath, [file])
      times[at]?.push(Number(stdout))
    }
  }
  return {
    title: 'Import',
    cells: times.map((list) => `${median(list).toFixed(1)} ms`),
    note: `median of ${rounds} fresh processes each, interleaved.`,
  }
}
