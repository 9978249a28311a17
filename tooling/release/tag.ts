/**
 * Tags the commit of a release, once for each package: `node tooling/release/tag.ts <folder>`.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { readPlan } from './plan.ts'

const [folder = '.data/release'] = process.argv.slice(2)
const tags = readPlan(folder).map(({ name, version }) => `${name}@${version}`)
for (const tag of tags) execFileSync('git', ['tag', tag], { stdio: 'inherit' })
if (tags.length > 0) execFileSync('git', ['push', 'origin', ...tags], { stdio: 'inherit' })
