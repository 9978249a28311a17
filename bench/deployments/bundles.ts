import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const bundles = { node: 'node.js', lambda: 'lambda.mjs', vercel: 'vercel.mjs', worker: 'worker.mjs' }

export type TargetName = keyof typeof bundles

const pathOf = (name: TargetName) => new URL(`../../apps/server/dist/${bundles[name]}`, import.meta.url)

export const readBundle = (name: TargetName) => readFileSync(pathOf(name))

/** Copies a bundle into an empty folder, from where it can load no other module. */
export function putAlone(name: TargetName): { folder: string; file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  const file = join(folder, `${name}.mjs`)
  copyFileSync(pathOf(name), file)
  return { folder, file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
