/** Run as a program, it writes the examples of all documents to where the root’s `tsconfig.json` finds them. */
import { globSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { root } from './packages/workspace.ts'

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

if (import.meta.main) {
  /** Documents beside a README, by the package that their examples import. */
  const documents: Record<string, string[]> = {
    'packages/mailer': ['../../README.md'],
    'apps/server': ['../../docs/platform-api.md'],
  }

  for (const readme of globSync('{packages/*,tooling/new-integration/template}/README.md', { cwd: root }))
    documents[dirname(readme)] = ['README.md', ...(documents[dirname(readme)] ?? [])]

  for (const [home, files] of Object.entries(documents)) await writeExamples(join(root, home), files, 'types')
}
