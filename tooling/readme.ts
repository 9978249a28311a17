import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { complaintsOf } from './complaints.ts'

interface ReadmeOptions {
  /** Markdown files, relative to the folder. */
  files?: readonly string[]
  /** The entries of the package that need an example each. */
  entries?: readonly string[]
  /** The variables that the examples read. */
  environment?: Record<string, string>
  /** The servers that the examples call, by host. */
  hosts: Record<string, typeof fetch>
  /** Runs before each example. */
  reset?: () => unknown
  /** Runs an example that is no test itself, and checks what it did. */
  run: (path: string, code: string) => Promise<unknown>
}

/**
 * Describes the promises of a README as tests: its examples compile, and do what they say.
 *
 * @param home the folder of the package
 */
export async function describeReadme(home: string, options: ReadmeOptions): Promise<void> {
  const { files, entries = [], environment = {}, hosts, reset = () => {}, run } = options
  const { blocks, compile } = await prepareExamples(home, files)
  beforeAll(() => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    vi.spyOn(console, 'log').mockImplementation(() => {})
    vi.stubGlobal('fetch', (input: string | Request, init?: RequestInit) => {
      const { host } = new URL(typeof input === 'string' ? input : input.url)
      return hosts[host]?.(input, init)
    })
  })
  beforeEach(() => void reset())
  afterAll(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })

  describe('the README', () => {
    it('has an example of each entry that users import', () => {
      const code = blocks.map((block) => block.code).join()
      for (const entry of entries) expect(code).toContain(`from '${entry}'`)
      expect(blocks).not.toEqual([])
    })

    it('has examples that compile', async () => expect(await compile()).toBe(''))

    for (const { title, path, code } of blocks) {
      if (!code.includes("from 'vitest'")) it(`${title} runs`, () => run(path, code))
      // The example’s tests become tests of the file.
      else describe(title, async () => void (await import(path)))
    }
  })
}

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
