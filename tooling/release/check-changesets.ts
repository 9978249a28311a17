/**
 * Fails if a branch changed a published package without a changeset:
 * `node tooling/release/check-changesets.ts [base]`. The default base is `main`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPublishable, root } from '../packages/workspace.ts'

/**
 * Finds the names of packages whose sources changed without a changeset that names them. A changeset that names no
 * package (`pnpm changeset --empty`) covers all of them.
 *
 * @param branch the paths of its changed files, and the texts of its added changesets
 */
export function findMissingChangesets({
  changedFiles,
  changesets,
  packages,
}: {
  changedFiles: readonly string[]
  changesets: readonly string[]
  packages: readonly { name: string; path: string }[]
}): string[] {
  const named = changesets.map(readPackageNames)
  if (named.some((names) => names.length === 0)) return []
  return packages
    .filter(({ path }) => changedFiles.some((file) => file.startsWith(`${path}/src/`)))
    .map(({ name }) => name)
    .filter((name) => !named.flat().includes(name))
}

/** Reads lines such as `"@org/mailer": minor` between the two `---` of a changeset. */
function readPackageNames(changeset: string): string[] {
  const [, head = ''] = /^---\n(.*?)^---$/ms.exec(changeset) ?? []
  const names = head.matchAll(/^["']?([^"':\n]+)["']?: *(?:major|minor|patch) *$/gm)
  return [...names].map(([, name = '']) => name)
}

function checkBranch(base: string): void {
  const git = (...command: string[]) =>
    execFileSync('git', command, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [from = base] = git('merge-base', base, 'HEAD')
  const changedFiles = [
    ...git('diff', '--name-only', from),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
  const changesets = changedFiles
    .filter((file) => /^\.changeset\/(?!README)[^/]+\.md$/.test(file) && existsSync(join(root, file)))
    .map((file) => readFileSync(join(root, file), 'utf8'))
  const missing = findMissingChangesets({ changedFiles, changesets, packages: findPublishable() })
  if (missing.length === 0) return
  console.error(`These packages changed since ${base}, but no changeset names them: ${missing.join(', ')}.`)
  console.error('Run `pnpm changeset`, or `pnpm changeset --empty` if no user can notice the change.')
  process.exitCode = 1
}

if (import.meta.main) checkBranch(process.argv[2] ?? 'main')
