/** Typechecks programs that use the packages, with each compiler that they support. */
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { complaintsOf } from '../complaints.ts'
import { entriesOf, type PackedPackage } from '../packages/pack.ts'

export const oldest = '5.4.5'
const versions = [oldest, '5.9.3', '6.0.3', '7.0.2']
const resolutions = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' }

type Resolution = keyof typeof resolutions

export const installs = versions.map((version) => `typescript-${version}@npm:typescript@${version}`)

/** One check for each compiler and each way to resolve modules. */
export const checks = versions.flatMap((version) =>
  (Object.keys(resolutions) as Resolution[]).map((moduleResolution) => ({
    label: `typescript ${version} ${moduleResolution}`,
    run: (project: string, tools: string, packages: readonly PackedPackage[]) =>
      typecheck(project, join(tools, `typescript-${version}`), packages, moduleResolution),
  })),
)

/**
 * Checks a program, every entry in an ES module, and the entries for `require` in a CommonJS module: strictly, and
 * with the libraries' declarations.
 *
 * @param project has the packages installed
 * @param compiler the folder of a version of TypeScript
 * @throws with the compiler's errors
 */
export async function typecheck(
  project: string,
  compiler: string,
  packages: readonly PackedPackage[],
  moduleResolution: Resolution,
): Promise<void> {
  const write = (file: string, text: string) => writeFile(join(project, file), text)
  await cp(join(import.meta.dirname, 'programs/exercise.ts'), join(project, 'exercise.ts'))
  await write('entries.ts', importAll(packages.flatMap((each) => entriesOf(each))))
  await write('required.cts', importAll(packages.flatMap((each) => entriesOf(each, 'require'))))
  const compilerOptions = {
    ...{ module: resolutions[moduleResolution], moduleResolution },
    ...{ target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    // The compiler's own declarations are the only ones that are not checked.
    ...{ skipLibCheck: false, skipDefaultLibCheck: true },
  }
  await write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions, files: ['exercise.ts', 'entries.ts', 'required.cts'] }),
  )
  const complaints = await complaintsOf(process.execPath, [join(compiler, 'bin/tsc'), '-p', project])
  if (complaints) throw new Error(complaints)
}

function importAll(entries: readonly string[]): string {
  return entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`).join('')
}
