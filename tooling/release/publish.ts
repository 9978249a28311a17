/**
 * Publishes the tarballs of a release, in a workflow with provenance:
 * `node tooling/release/publish.ts <folder> [--dry-run]`.
 *
 * npm publishes, because it exchanges the identity of a workflow for the right to publish; pnpm packed, because
 * it knows what `workspace:` and `catalog:` stand for. Needs nothing but Node and npm, so that nothing else runs
 * where there is that right.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readPlan } from './plan.ts'

const [folder = '.data/release', ...options] = process.argv.slice(2)
// Only a workflow has an identity that can prove where a tarball came from.
const provenance = process.env.ACTIONS_ID_TOKEN_REQUEST_URL ? ['--provenance'] : []

const releases = readPlan(folder)
for (const { name, version, tag, tarball } of releases) {
  // A release that broke off half way is run again from its start.
  if (isPublished(`${name}@${version}`)) {
    console.log(`${name}@${version} is published already.`)
    continue
  }
  console.log(`${name}@${version}`)
  const command = ['publish', tarball, '--access', 'public', '--tag', tag, ...provenance, ...options]
  execFileSync('npm', command, { stdio: 'inherit' })
}
if (releases.length === 0) console.log('Every version is published already.')

function isPublished(version: string): boolean {
  try {
    const options = { encoding: 'utf8', stdio: 'pipe' } as const
    return execFileSync('npm', ['view', version, 'version', '--prefer-online'], options).trim() !== ''
  } catch (error) {
    if (error instanceof Error && 'stderr' in error && String(error.stderr).includes('E404')) return false
    throw error
  }
}
