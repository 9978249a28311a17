/**
 * The weight of the repository in lines of code, folder by folder: `node tooling/line-budget.ts [--record]`. A folder
 * fails above its limit, or above its recorded figure where that is still higher. `--record` lowers the recorded figures.
 * A new package counts nowhere until it is listed, and so does the list that it adds a line to.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'

interface Folder {
  limit: number
  /** Absent once the folder has reached its limit. */
  recorded?: number | undefined
  files: string[]
  except?: string[]
}

const file = new URL('line-budget.json', import.meta.url)
const folders: Record<string, Folder> = JSON.parse(readFileSync(file, 'utf8'))
const isRecording = process.argv.includes('--record')

const lines = execFileSync('git', ['ls-files', '-coz', '--exclude-standard'], { encoding: 'utf8' })
  .split('\0')
  .filter((path) => /\.(ts|tsx|js|mjs|css)$/.test(path) && existsSync(path))
  .map((path) => ({ path, count: readFileSync(path, 'utf8').split('\n').length - 1 }))

for (const [name, folder] of Object.entries(folders)) {
  const { limit, recorded = limit, files, except = [] } = folder
  const isIn = (path: string, patterns: string[]) => patterns.some((pattern) => matchesGlob(path, pattern))
  const count = lines
    .filter(({ path }) => isIn(path, files) && !isIn(path, except))
    .reduce((sum, each) => sum + each.count, 0)
  const most = Math.max(limit, recorded)
  console.log(name.padEnd(20), String(count).padStart(6), `of ${limit}, at most ${most}`)
  if (count > most) {
    console.error(`${name} has ${count} lines, and may have ${most}. Make room for what you added.`)
    process.exitCode = 1
  }
  if (isRecording) folder.recorded = count > limit ? Math.min(count, most) : undefined
}
if (isRecording) writeFileSync(file, `${JSON.stringify(folders, null, 2)}\n`)
