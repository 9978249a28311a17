/** Installs each SDK alone into an empty project, and measures its size, installed and bundled. */
import { join } from 'node:path'
import { packAll } from '../../tooling/packages/pack.ts'
import { bundle, installInto, listInstalled } from '../../tooling/packages/weigh.ts'
import { readManifest } from '../../tooling/packages/workspace.ts'
import { build } from '../shared/build.ts'
import { kilobytes } from '../shared/format.ts'
import type { Peer } from './peers.ts'

export interface Installed {
  peer: Peer
  project: string
  version: string
}

export interface ComparedRow {
  title: string
  cells: string[]
  note?: string | undefined
}

/** Builds and packs ours, and installs every SDK alone, in its newest version on npm. */
export async function installAll(peers: readonly Peer[], folder: string): Promise<Installed[]> {
  await build()
  const tarballs = (await packAll(folder))
    .filter(({ name }) => name === '@org/core' || name === '@org/mailer')
    .map(({ tarball }) => tarball)
  const installed: Installed[] = []
  for (const peer of peers) {
    const project = join(folder, peer.name.replaceAll(/\W+/g, '-'))
    await installInto(project, peer.name === '@org/mailer' ? tarballs : [`${peer.name}@latest`])
    const { version } = readManifest(join(project, 'node_modules', peer.name, 'package.json'))
    installed.push({ peer, project, version })
  }
  return installed
}

export async function weightRows(installed: readonly Installed[]): Promise<ComparedRow[]> {
  const bundles = await Promise.all(installed.map(({ peer, project }) => bundle(project, peer.program)))
  return [
    {
      title: 'Installed',
      cells: installed.map(({ project }) => {
        const list = listInstalled(project)
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
