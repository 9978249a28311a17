import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { root } from '../../packages/workspace.ts'

const notCopied = new Set(['node_modules', 'dist', '.data', '.turbo', '.git'])
const copy = mkdtempSync(join(tmpdir(), 'repository-'))
afterAll(() => rmSync(copy, { recursive: true, force: true }))

/** Runs a command in the copy, and fails with the end of what it printed. */
function run(command: string, ...options: string[]): string {
  try {
    return execFileSync(command, options, { cwd: copy, stdio: 'pipe', encoding: 'utf8', maxBuffer: 2 ** 28 })
  } catch (error) {
    const { stdout = '', stderr = '' } = Object(error)
    return expect.fail(`${command} ${options.join(' ')}:\n${(stdout + stderr).slice(-6_000)}`)
  }
}

function commit(): void {
  run('git', 'add', '.')
  run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'A change')
}

it(
  'the repository with two new integrations passes every check, and each added a line to two files',
  () => {
    // A build of another task writes a bundled configuration for a moment, which may be gone when it is copied.
    const filter = (path: string) => !notCopied.has(basename(path)) && !path.includes('.bundled_')
    cpSync(root, copy, { recursive: true, filter })
    run('git', 'init', '-q')
    commit()
    run('pnpm', 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only')
    for (const name of ['text-messages-2', 'voice-calls']) {
      run('node', 'tooling/new-integration/main.ts', name)
      const changed = run('git', 'diff', '--numstat', '--', ':!pnpm-lock.yaml')
      expect(changed).toBe('1\t0\tapps/server/package.json\n1\t0\tapps/server/src/integrations.ts\n')
      commit()
    }
    // What it prints is of a fresh copy, so a newcomer's own unfinished work does not fail it twice.
    run('pnpm', 'run', 'check')
  },
  60 * 60_000,
)
