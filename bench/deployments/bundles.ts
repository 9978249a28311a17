import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../shared/processes.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface Target {
  url: string
  log: readonly string[]
  close(): Promise<void>
}

type TargetName = 'node' | 'lambda' | 'vercel' | 'worker'

/** @throws if the bundle is not built */
export function folderOf(name: TargetName): URL {
  const folder = new URL(`../../apps/server/dist/${name}/`, import.meta.url)
  if (!existsSync(folder)) throw new Error(`There is no ${folder.pathname}. Run pnpm build first.`)
  return folder
}

/** Copies a bundle into an empty folder, from where it can load no other module. */
export function putAlone(name: TargetName): { folder: string; file: string } {
  const folder = makeFolder()
  cpSync(folderOf(name), folder, { recursive: true })
  return { folder, file: join(folder, `${name}.mjs`) }
}
