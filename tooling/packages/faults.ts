/** Faults of a packed package that publint, attw and knip do not look for. */
import type { PackedPackage } from './pack.ts'
import { dependencyFields, SOURCE_CONDITION } from './workspace.ts'

const expected =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/[\w/-]+(-[A-Z0-9]{8})?\.(d\.c?ts|c?js))$/

/** The version before the first release, which has no changelog yet. */
const UNRELEASED = '0.0.0'

/** @returns each fault as a sentence */
export function findFaults({ files, manifest }: PackedPackage): string[] {
  const ranges = dependencyFields.flatMap((field) => Object.entries(manifest[field] ?? {}))
  const required = ['README.md', 'LICENSE', ...(manifest.version === UNRELEASED ? [] : ['CHANGELOG.md'])]
  return [
    ...ranges
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `${name} is “${range}”, which exists only in this repository`),
    ...(JSON.stringify(manifest.exports).includes(`"${SOURCE_CONDITION}"`)
      ? [`exports still have the condition ${SOURCE_CONDITION}`]
      : []),
    ...required.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files.filter((file) => !expected.test(file)).map((file) => `${file} should not be published`),
  ]
}
