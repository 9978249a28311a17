import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../packages/workspace.ts'

const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map((file) => ({
  name: basename(file),
  lines: readFileSync(join(root, file), 'utf8').split('\n'),
}))

/** The jobs of a workflow, each with its lines. */
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
  it('pins each action to a commit, with the version beside it', () => {
    const used = lines.filter((line) => line.includes('uses:'))
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('lists its permissions, and uses no stored token', () => {
    expect(lines.some((line) => line.startsWith('permissions:'))).toBe(true)
    expect(lines.join('\n')).not.toMatch(/write-all|secrets\.|NODE_AUTH_TOKEN|NPM_TOKEN/)
  })

  it('puts no expression into a script', () => {
    expect(lines.filter((line) => /^ +(- )?run:.*\$\{\{/.test(line))).toEqual([])
  })
})

it('one job alone has the right to publish, and it installs nothing', () => {
  const jobs = workflows.flatMap(({ lines }) => [...jobsOf(lines)])
  const publishing = jobs.filter(([, lines]) => lines.some((line) => line.includes('id-token: write')))
  expect(publishing.map(([job]) => job)).toEqual(['publish'])
  const text = publishing.flatMap(([, lines]) => lines).join('\n')
  expect(text).not.toMatch(/npm (install|ci)|pnpm|npx|(contents|pull-requests): write/)
})
