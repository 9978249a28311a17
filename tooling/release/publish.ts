/**
 * Publishes the tarballs of a release: `node tooling/release/publish.ts <folder> [--dry-run]`.
 *
 * npm publishes, because it exchanges the identity of a workflow for the right to publish. pnpm packed the tarballs,
 * because it replaces `workspace:` and `catalog:`. This file needs only Node and npm, so that the job with the right
 * to publish runs no other code.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Planned {
  kind: string
  name: string
  version: string
  tag: string
  tarball?: { path: string; integrity: string }
}

/**
 * Reads the plan of `changeset pack`, in which each package follows its dependencies.
 *
 * @param folder the `--out-dir` of `changeset pack`
 * @throws if a tarball changed after it was packed
 */
export function readPlan(folder: string) {
  const { plan }: { plan: Planned[][] } = JSON.parse(readFileSync(join(folder, 'publish-plan.json'), 'utf8'))
  return plan.flat().flatMap(({ kind, name, version, tag, tarball }) => {
    if (kind !== 'publish' || !tarball) return []
    const file = join(folder, tarball.path)
    const digest = createHash('sha256').update(readFileSync(file)).digest('base64')
    if (`sha256-${digest}` !== tarball.integrity) throw new Error(`${file} changed after it was packed.`)
    return [{ name, version, tag, tarball: file }]
  })
}

function publish(folder: string, options: readonly string[]): void {
  // Only a workflow has an identity that can prove where a tarball came from.
  const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : []
  for (const { name, version, tag, tarball } of readPlan(folder)) {
    // A release that failed half way is run again from its start.
    const published = isPublished(`${name}@${version}`)
    console.log(`${name}@${version}${published ? ' is already published.' : ''}`)
    if (published) continue
    const command = ['publish', tarball, '--access', 'public', '--tag', tag, ...provenance, ...options]
    execFileSync('npm', command, { stdio: 'inherit' })
  }
}

/** A registry that does not answer refuses the publication, too. */
const isPublished = (version: string) =>
  spawnSync('npm', ['view', version, 'version', '--prefer-online']).stdout.length > 0

if (import.meta.main) {
  const [folder = '.data/release', ...options] = process.argv.slice(2)
  publish(folder, options)
}
