/**
 * Fails where a branch changed a published package without a changeset:
 * `node tooling/release/check-changesets.ts [base]`. The base is `main` unless it is named.
 *
 * @module
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPublishable, root } from '../packages/workspace.ts'
import { findMissingChangesets } from './changesets.ts'

const git = (...command: string[]) =>
  execFileSync('git', command, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)

const [base = 'main'] = process.argv.slice(2)
const [from = base] = git('merge-base', base, 'HEAD')
const changedFiles = [
  ...git('diff', '--name-only', from),
  ...git('ls-files', '--others', '--exclude-standard'),
]
const changesets = changedFiles
  .filter((file) => /^\.changeset\/(?!README)[^/]+\.md$/.test(file) && existsSync(join(root, file)))
  .map((file) => readFileSync(join(root, file), 'utf8'))

const missing = findMissingChangesets({ changedFiles, changesets, packages: findPublishable() })
if (missing.length > 0) {
  console.error(`These packages changed since ${base}, and no changeset names them: ${missing.join(', ')}.`)
  console.error('Run `pnpm changeset`, or `pnpm changeset --empty` where nobody will notice.')
  process.exitCode = 1
}
