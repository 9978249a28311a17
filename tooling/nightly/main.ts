/**
 * Runs the slow suites, one after another: `npm run nightly`, or `npm run nightly -- chaos fuzz` for some. It writes a
 * page of results to standard output and to `.data/nightly.md`, and exits with the worst code.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { root } from '../packages/workspace.ts'

const suites: Readonly<Record<string, string>> = {
  build: 'pnpm install --frozen-lockfile --reporter=append-only && pnpm build',
  'repository checks': 'pnpm --filter @org/tooling --filter @org/server run nightly',
  runtimes: 'node tooling/runtimes/main.ts',
  outside: 'node tooling/outside/main.ts',
  downloads: 'node --conditions=@org/source packages/idp/test/downloads-check.ts',
  fuzz: 'node --conditions=@org/source apps/server/test/hostile/main.ts --minutes 10',
  chaos: 'node --conditions=@org/source bench/chaos/main.ts',
  mutation: 'node tooling/mutation/main.ts',
}
/** The lines of a suite's output that the page has: a failure is told at the end. */
const LINES = 80

const asked = process.argv.slice(2)
const unknown = asked.find((name) => !(name in suites))
if (unknown) throw new Error(`“${unknown}” is none of ${Object.keys(suites).join(', ')}.`)

const page = join(root, '.data/nightly.md')
const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).stdout
const title = `# Nightly of ${new Date().toISOString().slice(0, 16)}, commit ${commit?.trim()}`
const rows = ['| Suite | Result | Minutes |', '|---|---|---|']
const outputs: string[] = []

mkdirSync(join(root, '.data'), { recursive: true })
for (const [name, command] of Object.entries(suites)) {
  if (asked.length > 0 && !asked.includes(name)) continue
  console.error(`${name}: ${command}`)
  const began = performance.now()
  const options = { cwd: root, shell: true, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  const { status, stdout, stderr } = spawnSync(`{ ${command}; } 2>&1`, options)
  const code = status ?? 1
  process.exitCode = Math.max(Number(process.exitCode ?? 0), code)
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  const result = code === 0 ? 'passed' : `**failed** with ${code}`
  console.error(`${name}: ${result}, ${minutes} minutes`)
  rows.push(`| ${name} | ${result} | ${minutes} |`)
  const lines = stripVTControlCharacters(`${stdout}${stderr}`).trim().split('\n').slice(-LINES)
  outputs.push(`## ${name}\n\n\`${command}\`\n\n\`\`\`\n${lines.join('\n')}\n\`\`\``)
  // After each suite, so that a run that is cut has the results so far.
  writeFileSync(page, `${[title, rows.join('\n'), ...outputs].join('\n\n')}\n`)
}
console.log(readFileSync(page, 'utf8'))
