/**
 * Tags the commit of a release once for each package, and pushes the tags: `node tooling/release/tag.ts <folder>`.
 */
import { execFileSync } from 'node:child_process'
import { readPlan } from './publish.ts'

const tags = readPlan(process.argv[2] ?? '.data/release').map(({ name, version }) => `${name}@${version}`)
for (const tag of tags) execFileSync('git', ['tag', tag], { stdio: 'inherit' })
if (tags.length > 0) execFileSync('git', ['push', 'origin', ...tags], { stdio: 'inherit' })
