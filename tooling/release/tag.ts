/**
 * Tags the commit of a release once for each package, pushes the tags, and makes a GitHub release of each with its part
 * of the changelog: `node tooling/release/tag.ts <folder>`. Without the token of `gh`, it makes the tags alone.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readPlan } from './publish.ts'

/** Reads the part of a changelog about one version, without its heading. */
export function readNotes(changelog: string, version: string): string {
  const part = changelog.split(/^## /m).find((each) => each.startsWith(`${version}\n`)) ?? ''
  return part.slice(version.length).trim()
}

function tag(folder: string): void {
  const run = (command: string, ...options: string[]) => execFileSync(command, options, { stdio: 'inherit' })
  const releases = readPlan(folder).map((each) => ({ ...each, tag: `${each.name}@${each.version}` }))
  if (releases.length === 0) return
  for (const { tag } of releases) run('git', 'tag', tag)
  run('git', 'push', 'origin', ...releases.map(({ tag }) => tag))
  if (!process.env.GH_TOKEN) return
  for (const { name, version, tag } of releases) {
    const path = join(import.meta.dirname, '../..', name.replace('@org', 'packages'), 'CHANGELOG.md')
    const notes = readNotes(readFileSync(path, 'utf8'), version)
    run('gh', 'release', 'create', tag, '--verify-tag', '--title', tag, '--notes', notes)
  }
}

if (import.meta.main) tag(process.argv[2] ?? '.data/release')
