import { readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { transformSync } from 'esbuild'
import { parseSync } from 'oxc-parser'
import { readExportedNames } from '../public-names.ts'

/**
 * Translates built ES modules, and the modules that they load, to CommonJS, and writes their declarations.
 *
 * @param entries the CommonJS modules, such as `./dist/index.cjs`; each stands beside its ES module
 */
export function writeCommonJs(entries: readonly string[]): void {
  const files = new Set(entries.map((entry) => join(entry.replace(/\.cjs$/, '.js'))))
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    for (const specifier of readSpecifiers(file, text)) {
      if (specifier.startsWith('.')) files.add(join(dirname(file), specifier))
    }
    translate(file, text)
  }
  for (const entry of entries) declare(entry)
}

function translate(file: string, text: string): void {
  const { code } = transformSync(text, {
    format: 'cjs',
    platform: 'node',
    // A module that is loaded later is a CommonJS module, too.
    supported: { 'dynamic-import': false },
  })
  const modules = code.replaceAll(/(?<=\brequire\("\.[^"]*)\.js(?="\))/g, '.cjs')
  writeFileSync(file.replace(/\.js$/, '.cjs'), modules)
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

/** The specifiers that a module imports, each once. */
function readSpecifiers(file: string, text: string): string[] {
  const { module } = parseSync(file, text)
  return [
    ...new Set([
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
      ),
      ...module.dynamicImports.map(({ moduleRequest }) =>
        text.slice(moduleRequest.start, moduleRequest.end).replaceAll(/^['"`]|['"`]$/g, ''),
      ),
    ]),
  ]
}
