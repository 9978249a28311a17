import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { writeExamples } from './examples.ts'

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
 * Describes the promises of a README as tests: its examples do what they say. The type check of the root compiles them.
 *
 * @param home the folder of the package
 */
export async function describeReadme(home: string, options: ReadmeOptions): Promise<void> {
  const { files = ['README.md'], entries = [], environment = {}, hosts, reset = () => {}, run } = options
  const blocks = await writeExamples(home, files, 'readme')
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

    for (const { title, path, code } of blocks) {
      if (!code.includes("from 'vitest'")) it(`${title} runs`, () => run(path, code))
      // The example’s tests become tests of the file.
      else describe(title, async () => void (await import(path)))
    }
  })
}
