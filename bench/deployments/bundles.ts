import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TargetName = 'node' | 'lambda' | 'vercel' | 'worker'

const folderOf = (name: TargetName) => new URL(`../../apps/server/dist/${name}/`, import.meta.url)

/** The modules of a bundle, one after another; a Worker is one module. */
export const readBundle = (name: TargetName) =>
  Buffer.concat(
    readdirSync(folderOf(name))
      .filter((file) => file.endsWith('.mjs'))
      .map((file) => readFileSync(new URL(file, folderOf(name)))),
  )

/** Copies a bundle into an empty folder, from where it can load no other module. */
export function putAlone(name: TargetName): { folder: string; file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  cpSync(folderOf(name), folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  return { folder, file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
