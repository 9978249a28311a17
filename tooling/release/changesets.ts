/**
 * Which changed packages nobody has said anything about.
 *
 * @module
 */

/** What a branch did. */
export interface Branch {
  /** The files that it changed, from the root of the repository. */
  changedFiles: readonly string[]
  /** The texts of the changesets that it added. */
  changesets: readonly string[]
  /** The packages that are published. */
  packages: readonly { name: string; path: string }[]
}

/**
 * The packages whose sources a branch changed without a changeset that names them. A changeset that names no
 * package says that nobody will notice, and covers all of them.
 *
 * @returns their names
 */
export function findMissingChangesets({ changedFiles, changesets, packages }: Branch): string[] {
  const named = changesets.map(readPackageNames)
  if (named.some((names) => names.length === 0)) return []
  const covered = new Set(named.flat())
  return packages
    .filter(({ path }) => changedFiles.some((file) => file.startsWith(`${path}/src/`)))
    .map(({ name }) => name)
    .filter((name) => !covered.has(name))
}

/** The packages in the head of a changeset: lines such as `"@org/mailer": minor`, between two `---`. */
function readPackageNames(changeset: string): string[] {
  const [, head = ''] = /^---\n(.*?)^---$/ms.exec(changeset) ?? []
  return [...head.matchAll(/^["']?([^"':\n]+)["']?: *(?:major|minor|patch) *$/gm)].map(
    ([, name = '']) => name,
  )
}
