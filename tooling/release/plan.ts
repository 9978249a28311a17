/**
 * What `changeset pack` wrote: the tarballs of a release, in the order in which they are published.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One package of a release. */
export interface Release {
  name: string
  version: string
  tag: string
  /** The path of its tarball. */
  tarball: string
}

interface PlanFile {
  plan: {
    kind: string
    name: string
    version: string
    tag: string
    tarball?: { path: string; integrity: string }
  }[][]
}

/**
 * Reads the plan of a release. What is depended on comes before what depends on it.
 *
 * @param folder what `changeset pack --out-dir` was given
 * @throws where a tarball is not the one that was packed
 */
export function readPlan(folder: string): Release[] {
  const { plan }: PlanFile = JSON.parse(readFileSync(join(folder, 'publish-plan.json'), 'utf8'))
  return plan.flat().flatMap(({ kind, name, version, tag, tarball }) => {
    if (kind !== 'publish' || !tarball) return []
    const file = join(folder, tarball.path)
    const digest = createHash('sha256').update(readFileSync(file)).digest('base64')
    if (`sha256-${digest}` !== tarball.integrity)
      throw new Error(`${file} is not the tarball that was packed.`)
    return [{ name, version, tag, tarball: file }]
  })
}
