/**
 * What must not be wrong with a packed package, beside what publint and attw look at.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageOf, readSpecifiers } from '../import-graph.ts'
import type { PackedPackage } from './pack.ts'
import { type Manifest, SOURCE_CONDITION } from './workspace.ts'

type DependencyField = 'dependencies' | 'peerDependencies' | 'optionalDependencies' | 'devDependencies'

const dependencyFields: readonly DependencyField[] = [
  'dependencies',
  'peerDependencies',
  'optionalDependencies',
  'devDependencies',
]

/** The files that a package may hold. Everything else got in by mistake: tests, data, sources, source maps. */
const expected = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/[\w/-]+(-[A-Z0-9]{8})?\.(js|d\.ts))$/

/** The version before the first release, which has no changelog yet. */
const UNRELEASED = '0.0.0'

/** @returns everything that is wrong, as sentences */
export function findFaults(packed: PackedPackage): string[] {
  return [
    ...findRanges(packed.manifest),
    ...findSourceCondition(packed.manifest),
    ...findMissingTargets(packed),
    ...findFileFaults(packed),
    ...findUndeclaredImports(packed),
  ]
}

function findRanges(manifest: Manifest): string[] {
  return dependencyFields.flatMap((field) =>
    Object.entries(manifest[field] ?? {})
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `${field}.${name} is “${range}”, which nobody else can resolve`),
  )
}

function findSourceCondition({ exports = {} }: Manifest): string[] {
  return JSON.stringify(exports).includes(`"${SOURCE_CONDITION}"`)
    ? [`exports still have the condition ${SOURCE_CONDITION}`]
    : []
}

function findMissingTargets({ manifest: { exports = {} }, files }: PackedPackage): string[] {
  const entries = Object.entries(exports)
  if (entries.length === 0) return ['there are no exports']
  return entries.flatMap(([subpath, conditions]) =>
    Object.entries(conditions)
      .filter(([, target]) => !files.includes(target.replace(/^\.\//, '')))
      .map(([condition, target]) => `exports["${subpath}"].${condition} is ${target}, which is not there`),
  )
}

function findFileFaults({ files, manifest: { version } }: PackedPackage): string[] {
  const required = ['README.md', 'LICENSE', ...(version === UNRELEASED ? [] : ['CHANGELOG.md'])]
  return [
    ...required.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files.filter((file) => !expected.test(file)).map((file) => `${file} should not be published`),
  ]
}

function findUndeclaredImports({ folder, files, manifest }: PackedPackage): string[] {
  const declared = new Set([
    manifest.name,
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
  ])
  return files
    .filter((file) => /\.(js|d\.ts)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const packages = readSpecifiers(file, text)
        .filter((specifier) => !/^(\.|node:)/.test(specifier))
        .map(packageOf)
      return [...new Set(packages)]
        .filter((name) => !declared.has(name))
        .map((name) => `${file} imports “${name}”, which is not among the dependencies`)
    })
}
