import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Writes each `ts` block of Markdown files into a module in a package's folder, from which it can import the package
 * by name.
 *
 * @param home the folder of the package
 * @param files Markdown files, relative to the folder
 * @param purpose names the modules' folder: two processes that write the same one would break each other
 * @returns the blocks, in files of the names behind “```ts”, if they have some, each with a title for its test
 */
export async function writeExamples(home: string, files: readonly string[], purpose: 'readme' | 'types') {
  // Version control and the formatter ignore this folder.
  const folder = join(home, '.data', purpose)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const texts = await Promise.all(files.map((file) => readFile(join(home, file), 'utf8')))
  const found = texts.join('\n').matchAll(/^```ts(?: ([\w.-]+))?\n(.*?)^```$/gms)
  const blocks = [...found].map(([, file, code = ''], index) => {
    const line =
      code.split('\n').find((each) => each !== '' && !each.startsWith('import')) ?? code.slice(0, 60)
    return { title: `block ${index + 1}: ${line}`, code, path: join(folder, file ?? `block-${index + 1}.ts`) }
  })
  for (const { path, code } of blocks) await writeFile(path, code)
  return blocks
}
