/**
 * Installs each SDK alone into an empty project, and measures its size, installed and bundled.
 *
 * @module
 */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { installInto, listInstalled } from '../../tooling/packages/weigh.ts'
import { readManifest } from '../../tooling/packages/workspace.ts'
import { kilobytes } from '../shared/format.ts'
import { build, pack } from '../shared/packages.ts'
import type { Peer } from './peers.ts'
import type { ComparedRow } from './table.ts'

/** An SDK in a project of its own. */
export interface Installed {
  peer: Peer
  project: string
  version: string
}

/** Builds and packs ours, and installs every SDK alone, in its newest version on npm. */
export async function installAll(peers: readonly Peer[], folder: string): Promise<Installed[]> {
  await build(['mailer'])
  const tarballs = [await pack('core', folder), await pack('mailer', folder)]
  const installed: Installed[] = []
  for (const peer of peers) {
    const project = join(folder, peer.name.replaceAll(/\W+/g, '-'))
    await installInto(project, peer.name === '@org/mailer' ? tarballs : [`${peer.name}@latest`])
    const { version } = readManifest(join(project, 'node_modules', peer.name, 'package.json'))
    installed.push({ peer, project, version })
  }
  return installed
}

/** The size of each SDK, installed and bundled. */
export async function weightRows(installed: readonly Installed[]): Promise<ComparedRow[]> {
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
  const { outputFiles } = await esbuild.build({
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
