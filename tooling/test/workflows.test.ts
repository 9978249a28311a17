import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../packages/workspace.ts'

const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((file) => ({
  name: basename(file),
  lines: readFileSync(join(root, file), 'utf8').split('\n'),
}))

/** The jobs of a workflow, each with its lines; what stands before the first is the workflow's own. */
function jobsOf(lines: readonly string[]): Map<string, string[]> {
  const jobs = new Map<string, string[]>()
  let current = ''
  for (const line of lines.slice(lines.indexOf('jobs:') + 1)) {
    current = /^ {2}(\w+):$/.exec(line)?.[1] ?? current
    jobs.set(current, [...(jobs.get(current) ?? []), line])
  }
  return jobs
}

describe.each(workflows)('the workflow $name', ({ lines }) => {
  it('uses actions by their commit, with the version beside it', () => {
    const used = lines.filter((line) => line.includes('uses:'))
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('holds no token', () => {
    expect(lines.join('\n')).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/)
  })

  it('says what it may do, and no job may do everything', () => {
    expect(lines.some((line) => /^permissions:/.test(line))).toBe(true)
    expect(lines.join('\n')).not.toContain('write-all')
  })

  it('puts nothing that others can name into a script', () => {
    expect(lines.filter((line) => /^ +(- )?run:.*\$\{\{/.test(line))).toEqual([])
  })
})

describe('the right to publish', () => {
  const jobs = workflows.flatMap(({ lines }) => [...jobsOf(lines)])
  const publishing = jobs.filter(([, lines]) => lines.some((line) => line.includes('id-token: write')))

  it('is had by one job, which installs nothing', () => {
    expect(publishing.map(([job]) => job)).toEqual(['publish'])
    const [[, lines] = ['', []]] = publishing
    expect(lines.filter((line) => /npm (install|ci)|pnpm|npx/.test(line))).toEqual([])
    expect(lines.join('\n')).not.toMatch(/(contents|pull-requests): write/)
  })
})
