import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../tooling/packages/workspace.ts'
import { type LaunchOptions, startServer } from '../shared/processes.ts'
import { hostEnvironment } from './programs/host-environment.ts'

export type Fixture = Awaited<ReturnType<typeof createFixture>>

/** Builds everything. A build of the host that happens during a run changes nothing. */
export async function createFixture() {
  // Version control and the formatter ignore `.data`.
  const data = join(import.meta.dirname, '../.data')
  mkdirSync(data, { recursive: true })
  const folder = mkdtempSync(join(data, 'speed-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const options = { cwd: root, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' } }
  await promisify(execFile)('pnpm', ['build'], options)
  cpSync(join(root, 'apps/server/dist'), join(folder, 'host'), { recursive: true })
  /** A program of `programs/`, which imports the packages as they are built. */
  const program = (name: string) => join(import.meta.dirname, 'programs', `${name}.ts`)
  return {
    folder,
    program,
    /** Starts the host as in production, or a server of `programs/`, with its log in a file. */
    startServer(name: string, { environment, ...options }: LaunchOptions = {}) {
      const file = name === 'host' ? join(folder, 'host/node/node.mjs') : program(name)
      return startServer(file, '/healthz', {
        output: openSync(join(folder, 'servers.log'), 'a'),
        environment: { ...hostEnvironment, ...environment },
        ...options,
      })
    },
    /** Starts an emulated provider of mails, which responds after `delayMs`. */
    startProvider: (delayMs = 0) =>
      startServer(program('provider'), '/server', { environment: { DELAY_MS: String(delayMs) } }),
  }
}
