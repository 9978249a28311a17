/** `pnpm new:integration <name>`: see docs/new-integration.md. If a command fails, `git` takes back what was written. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPublishable, root } from '../packages/workspace.ts'
import { readPublicNames } from '../public-names.ts'
import { scaffold } from './scaffold.ts'

const [name = ''] = process.argv.slice(2)
try {
  const written = scaffold(root, name)
  const made = findPublishable().find(({ path }) => path === `packages/${name}`)
  const publicNames = `tooling/public-names/${name}.txt`
  if (made) writeFileSync(join(root, publicNames), `${readPublicNames(made).join('\n')}\n`)
  const run = (command: string, ...options: string[]) =>
    execFileSync(command, options, { cwd: root, stdio: 'inherit' })
  run('pnpm', 'exec', 'biome', 'check', '--write', ...written.filter((file) => /\.(ts|json)$/.test(file)))
  // In CI, pnpm would refuse to change the lockfile.
  run('pnpm', 'install', '--no-frozen-lockfile', '--reporter=append-only')
  console.log(`
Made packages/${name}, and mounted it at POST /${name}/webhook. Its provider is an example:
follow docs/new-integration.md to replace it. Run its tests with pnpm --filter @org/${name} test.`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
