/**
 * The examples of a README, so that a test can compile and run them.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

/** One `ts` block of a README. */
export interface Example {
  /** For the name of a test. */
  title: string
  code: string
  /** The block as a file that can be imported. */
  path: string
}

/** The examples of a package. */
export interface Examples {
  blocks: readonly Example[]
  /** @returns what the compiler complains of; empty where it does not */
  compile(): Promise<string>
}

/**
 * Writes each `ts` block of the given files below the package's folder, where it can import the package by name.
 *
 * @param home the folder of the package
 * @param files Markdown files, relative to it
 */
export async function prepareExamples(
  home: string,
  files: readonly string[] = ['README.md'],
): Promise<Examples> {
  // Ignored by version control and by the formatter.
  const folder = join(home, '.data/readme')
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "include": ["*.ts"] }')
  const texts = await Promise.all(files.map((file) => readFile(join(home, file), 'utf8')))
  const blocks = [...texts.join('\n').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = ''], index) => {
    const says =
      code.split('\n').find((line) => line !== '' && !line.startsWith('import')) ?? code.slice(0, 60)
    return { title: `block ${index + 1}: ${says}`, code, path: join(folder, `block-${index + 1}.ts`) }
  })
  for (const { path, code } of blocks) await writeFile(path, code)
  return { blocks, compile: () => compile(folder) }
}

async function compile(folder: string): Promise<string> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
  try {
    await promisify(execFile)(process.execPath, [compiler, '-p', folder])
    return ''
  } catch (error) {
    return error instanceof Error && 'stdout' in error ? String(error.stdout) : String(error)
  }
}
