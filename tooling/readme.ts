import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { complaintsOf } from './complaints.ts'

/**
 * Writes each `ts` block into a module in the package's folder, from which it can import the package by name.
 *
 * @param home the folder of the package
 * @param files Markdown files, relative to the folder
 * @returns the blocks, each with a title for its test, and a function that resolves with the compiler's errors
 */
export async function prepareExamples(home: string, files: readonly string[] = ['README.md']) {
  // Version control and the formatter ignore this folder.
  const folder = join(home, '.data/readme')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "include": ["*.ts"] }')
  const texts = await Promise.all(files.map((file) => readFile(join(home, file), 'utf8')))
  const blocks = [...texts.join('\n').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], index) => {
    const line =
      code.split('\n').find((each) => each !== '' && !each.startsWith('import')) ?? code.slice(0, 60)
    return { title: `block ${index + 1}: ${line}`, code, path: join(folder, `block-${index + 1}.ts`) }
  })
  for (const { path, code } of blocks) await writeFile(path, code)
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  return { blocks, compile: () => complaintsOf(process.execPath, [compiler, '-p', folder]) }
}
