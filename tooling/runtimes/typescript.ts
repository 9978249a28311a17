/** Typechecks a program that uses the packages, with each compiler that they support. */
import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { complaintsOf } from '../complaints.ts'
import type { PackedPackage } from '../packages/pack.ts'

const versions = ['5.9.3', '6.0.3', '7.0.2']
/** Each way to resolve modules, with its `module`. */
const resolutions = { nodenext: 'nodenext', bundler: 'esnext' }

export const installs = versions.map((version) => `typescript-${version}@npm:typescript@${version}`)

/** One check for each compiler and resolution. All are strict, and include the declarations of the libraries. */
export const checks = versions.flatMap((version) =>
  Object.entries(resolutions).map(([moduleResolution, module]) => ({
    label: `typescript ${version} ${moduleResolution}`,
    async run(project: string, tools: string, packages: readonly PackedPackage[]): Promise<void> {
      await writeFile(join(project, 'entries.ts'), importEverything(packages))
      const libraries = { target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'], types: [] }
      const strict = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true }
      const compilerOptions = { module, moduleResolution, ...libraries, ...strict }
      const config = join(project, 'tsconfig.json')
      await writeFile(config, JSON.stringify({ compilerOptions, files: ['exercise.ts', 'entries.ts'] }))
      const compiler = join(tools, `typescript-${version}`, 'bin/tsc')
      const complaints = await complaintsOf(process.execPath, [compiler, '-p', config])
      if (complaints) throw new Error(complaints)
    },
  })),
)

function importEverything(packages: readonly PackedPackage[]): string {
  const entries = packages.flatMap(({ name, manifest }) =>
    Object.keys(manifest.exports ?? {}).map((subpath) => posix.join(name, subpath)),
  )
  return entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`).join('')
}
