/**
 * Fails if a branch changed a published package without a changeset, or has an invalid one:
 * `node tooling/release/check-changesets.ts [base]`. The default base is `main`.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseChangesetFile } from '@changesets/parse'
import { findPublishable, root } from '../packages/workspace.ts'

/**
 * Finds changesets that release nothing, and packages whose sources changed without a changeset that names them. A
 * changeset that names no package (`pnpm changeset --empty`) covers all of them.
 *
 * @param branch the paths of its changed files, and the texts of its added changesets by file
 * @returns a sentence for each
 */
export function findChangesetFaults({
  changedFiles,
  changesets,
  packages,
}: {
  changedFiles: readonly string[]
  changesets: Readonly<Record<string, string>>
  packages: readonly { name: string; path: string }[]
}): string[] {
  const faults: string[] = []
  const named = Object.entries(changesets).map(([file, text]) => {
    const releases = readReleases(text)
    if (typeof releases === 'string') {
      faults.push(`${file}: ${releases}`)
      return undefined
    }
    for (const { name, type } of releases) {
      if (!packages.some((each) => each.name === name))
        faults.push(`${file}: no published package is ${name}.`)
      if (type === 'none')
        faults.push(`${file}: “none” does not release ${name}: write patch, minor or major.`)
    }
    return releases.map(({ name }) => name)
  })
  if (named.some((names) => names?.length === 0)) return faults
  const missing = packages
    .filter(({ path }) => changedFiles.some((file) => file.startsWith(`${path}/src/`)))
    .filter(({ name }) => !named.flat().includes(name))
  return [...faults, ...missing.map(({ name }) => `${name} changed, but no changeset names it.`)]
}

/** @returns what a changeset releases, or why it is none */
function readReleases(text: string) {
  try {
    return parseChangesetFile(text).releases
  } catch (error) {
    return error instanceof Error ? String(error.message.split('\n')[0]) : String(error)
  }
}

function checkBranch(base: string): void {
  const git = (...command: string[]) =>
    execFileSync('git', command, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [from = base] = git('merge-base', base, 'HEAD')
  const changedFiles = [
    ...git('diff', '--name-only', from),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
  const added = changedFiles
    .filter((file) => /^\.changeset\/(?!README)[^/]+\.md$/.test(file) && existsSync(join(root, file)))
    .map((file) => [file, readFileSync(join(root, file), 'utf8')])
  const changesets = Object.fromEntries(added)
  const faults = findChangesetFaults({ changedFiles, changesets, packages: findPublishable() })
  if (faults.length === 0) return
  console.error([`Since ${base}:`, ...faults].join('\n'))
  console.error('Run `pnpm changeset`, or `pnpm changeset --empty` if no user can notice the change.')
  process.exitCode = 1
}

if (import.meta.main) checkBranch(process.argv[2] ?? 'main')
