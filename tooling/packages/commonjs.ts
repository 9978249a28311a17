import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'
import { readExportedNames } from '../public-names.ts'

/**
 * Translates built ES modules, and the modules that they load, to CommonJS, and writes their declarations.
 *
 * @param entries the CommonJS modules, such as `./dist/index.cjs`; each stands beside its ES module
 */
export async function writeCommonJs(entries: readonly string[]): Promise<void> {
  const options = { outdir: 'dist', outbase: 'dist', platform: 'node', write: false } as const
  const entryPoints = entries.map((entry) => entry.replace(/\.cjs$/, '.js'))
  const reached = { bundle: true, ignoreAnnotations: true, packages: 'external', metafile: true } as const
  const { metafile } = await build({ ...options, ...reached, entryPoints })
  const { outputFiles } = await build({
    ...options,
    entryPoints: Object.keys(metafile.inputs),
    format: 'cjs',
    outExtension: { '.js': '.cjs' },
    // A module that is loaded later is a CommonJS module, too.
    supported: { 'dynamic-import': false },
  })
  for (const { path, text } of outputFiles)
    writeFileSync(path, text.replaceAll(/(?<=\brequire\("\.[^"]*)\.js(?="\))/g, '.cjs'))
  for (const entry of entries) declare(entry)
}

/** The declarations are the types of the ES module, so that a program may mix both kinds of modules. */
function declare(entry: string): void {
  const file = entry.replace(/\.cjs$/, '.js')
  const from = `from './${basename(file)}' with { 'resolution-mode': 'import' }`
  const values = readExportedNames(file, readFileSync(file, 'utf8')).flatMap((name) => [
    `export declare const ${name}: typeof esm.${name}`,
    // `export type *` leaves out a name that is declared here, and a class is a type too.
    ...(/^[A-Z]/.test(name) ? [`export type ${name} = esm.${name}`] : []),
  ])
  const lines = [`import type * as esm ${from}`, `export type * ${from}`, ...values]
  writeFileSync(entry.replace(/\.cjs$/, '.d.cts'), `${lines.join('\n')}\n`)
}
