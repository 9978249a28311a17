import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Served, serve } from '@org/core/testing'
import { onTestFinished } from 'vitest'

export const webhookSecret = `whsec_${btoa('a secret of the platform')}`

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Starts Node with these arguments, free ports, and nothing else of this machine’s environment. */
export function startNode(given: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  // Compiled code is kept, as the launcher of `npm start` keeps it.
  const NODE_COMPILE_CACHE = join(root, '.data/compiled')
  const { PATH } = process.env
  const env = { PATH, NODE_COMPILE_CACHE, PORT: '0', SANDBOX_PORT: '0', ...environment }
  const child = spawn(process.execPath, given, { env })
  onTestFinished(() => void child.kill())
  return child
}

/** Starts a program of the sandbox, as npm does. */
export function startProgram(name: string, given: readonly string[], environment?: NodeJS.ProcessEnv) {
  const program = join(root, `apps/sandbox/src/${name}.ts`)
  return startNode(['--conditions=@org/source', program, ...given], environment)
}

/** Everything that a process prints, and its exit code. */
export async function finish(child: ReturnType<typeof startNode>) {
  const ends = [text(child.stdout), text(child.stderr), once(child, 'close')] as const
  const [output, errors, [code]] = await Promise.all(ends)
  return { output, errors, code }
}

/** A folder until the test ends. */
export async function folderForTest(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sandbox-test-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** A server until the test ends. */
export async function serveForTest(handler: (request: Request) => Promise<Response>): Promise<Served> {
  const server = await serve(handler)
  onTestFinished(server.close)
  return server
}
