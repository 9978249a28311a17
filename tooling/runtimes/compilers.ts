/**
 * Typechecks a consumer of the packages.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import type { PackedPackage } from '../packages/pack.ts'
import { compilers, resolutions } from './targets.ts'

/**
 * One check for each compiler and way to resolve modules: strict, with the declarations of every library.
 *
 * @returns labels, each with its check
 */
export function* typecheck(
  project: string,
  tools: string,
  packages: readonly PackedPackage[],
): Generator<[string, () => Promise<void>]> {
  for (const [version, installs] of Object.entries(compilers)) {
    for (const [moduleResolution, module] of Object.entries(resolutions)) {
      yield [
        `typescript ${version} ${moduleResolution}`,
        async () => {
          await writeFile(join(project, 'entries.ts'), importEverything(packages))
          const compilerOptions = {
            ...{ module, moduleResolution, target: 'es2023', lib: ['es2023', 'dom', 'dom.iterable'] },
            ...{
              strict: true,
              exactOptionalPropertyTypes: true,
              skipLibCheck: false,
              noEmit: true,
              types: [],
            },
          }
          const config = join(project, 'tsconfig.json')
          await writeFile(config, JSON.stringify({ compilerOptions, files: ['exercise.ts', 'entries.ts'] }))
          const compiler = join(tools, installs.split('@npm:')[0] ?? '', 'bin/tsc')
          await compile(compiler, config)
        },
      ]
    }
  }
}

function importEverything(packages: readonly PackedPackage[]): string {
  const entries = packages.flatMap(({ name, manifest }) =>
    Object.keys(manifest.exports ?? {}).map((subpath) => posix.join(name, subpath)),
  )
  const imports = entries.map((entry, index) => `import * as entry${index} from '${entry}'`)
  return `${imports.join('\n')}\nexport const entries = [${entries.map((_, index) => `entry${index}`).join(', ')}]\n`
}

async function compile(compiler: string, config: string): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', config])
  } catch (error) {
    throw error instanceof Error && 'stdout' in error ? new Error(String(error.stdout)) : error
  }
}
