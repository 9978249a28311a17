import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Variables = Readonly<Record<string, string | undefined>>

export interface Target {
  url: string
  log: readonly string[]
  close(): Promise<void>
}

type TargetName = 'node' | 'lambda' | 'vercel' | 'worker'

export const folderOf = (name: TargetName) => new URL(`../../apps/server/dist/${name}/`, import.meta.url)

/** Copies a bundle into an empty folder, from where it can load no other module. */
export function putAlone(name: TargetName): { folder: string; file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'host-'))
  cpSync(folderOf(name), folder, { recursive: true })
  const file = join(folder, `${name}.mjs`)
  return { folder, file, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
