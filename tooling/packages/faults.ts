/** Faults of a packed package that publint and attw do not look for. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageOf, readSpecifiers } from '../sources.ts'
import type { PackedPackage } from './pack.ts'
import { sourcesOf } from './source-maps.ts'
import { dependencyFields, type Manifest, SOURCE_CONDITION } from './workspace.ts'

const expected =
  /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|src\/[\w/-]+\.ts|dist\/[\w/-]+(-[A-Z0-9]{8})?\.(d\.cts|(c?js|d\.ts)(\.map)?))$/

/** The version before the first release, which has no changelog yet. */
const UNRELEASED = '0.0.0'

/** @returns each fault as a sentence */
export function findFaults(packed: PackedPackage): string[] {
  return [
    ...findRanges(packed.manifest),
    ...findFileFaults(packed),
    ...findMissingSources(packed),
    ...findUndeclaredImports(packed),
  ]
}

function findRanges(manifest: Manifest): string[] {
  const ranges = dependencyFields.flatMap((field) =>
    Object.entries(manifest[field] ?? {})
      .filter(([, range]) => /^(workspace|catalog|link|file):/.test(range))
      .map(([name, range]) => `${field}.${name} is “${range}”, which exists only in this repository`),
  )
  const isSource = JSON.stringify(manifest.exports).includes(`"${SOURCE_CONDITION}"`)
  return isSource ? [...ranges, `exports still have the condition ${SOURCE_CONDITION}`] : ranges
}

function findFileFaults({ files, manifest: { version } }: PackedPackage): string[] {
  const required = ['README.md', 'LICENSE', ...(version === UNRELEASED ? [] : ['CHANGELOG.md'])]
  return [
    ...required.filter((file) => !files.includes(file)).map((file) => `${file} is missing`),
    ...files.filter((file) => !expected.test(file)).map((file) => `${file} should not be published`),
  ]
}

function findMissingSources({ folder, files }: PackedPackage): string[] {
  return files
    .filter((file) => file.endsWith('.map'))
    .flatMap((file) =>
      sourcesOf(join(folder, file))
        .map((source) => join(dirname(file), source))
        .filter((source) => !files.includes(source))
        .map((source) => `${file} leads to ${source}, which is missing`),
    )
}

function findUndeclaredImports({ folder, files, manifest }: PackedPackage): string[] {
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, [manifest.name]: '' }
  return files
    .filter((file) => /^dist\/.*\.(js|ts)$/.test(file))
    .flatMap((file) =>
      readSpecifiers(file, readFileSync(join(folder, file), 'utf8'))
        .filter((specifier) => !/^(\.|node:)/.test(specifier))
        .map(packageOf)
        .filter((name) => !Object.hasOwn(declared, name))
        .map((name) => `${file} imports “${name}”, which is not among the dependencies`),
    )
}
