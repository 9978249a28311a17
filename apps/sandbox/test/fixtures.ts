import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Served, serve } from '@org/core/testing'
import { onTestFinished } from 'vitest'
import { run } from '../src/run.ts'
import type { Walk } from '../src/walk/walks.ts'
import type { Environment } from '../src/world/listen.ts'
import type { World } from '../src/world/world.ts'

export const webhookSecret = `whsec_${btoa('a secret of the platform')}`

/** The environment of a program that a test starts. Compiled code is kept, as the launcher of `npm start` keeps it. */
export const programEnvironment = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../../.data/compiled', import.meta.url)),
}

interface Setup {
  environment?: Environment
  walks?: readonly Walk[]
  /** Runs while the host keeps running; without it, the run ends after the walks. */
  visit?: (world: World) => Promise<void>
}

/** Runs the sandbox on a free port, without this machine’s environment. */
export async function runSandbox({ environment, walks, visit }: Setup = {}) {
  let output = ''
  const end = new AbortController()
  let visited: Promise<void> | undefined
  const code = await run({
    environment: { PORT: '0', ...environment },
    terminal: {
      write: (text) => (output += text),
      colours: false,
    },
    once: visit === undefined,
    signal: end.signal,
    walks,
    onReady(world) {
      visited = visit?.(world).finally(() => end.abort())
    },
  })
  await visited
  return { code, output }
}

/** A provider that the sandbox takes for the real one, until the test ends. */
export async function serveForTest(handler: (request: Request) => Promise<Response>): Promise<Served> {
  const server = await serve(handler)
  onTestFinished(server.close)
  return server
}

/** Everything that a process prints, and its exit code. */
export async function finish(child: ChildProcessWithoutNullStreams) {
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { output, errors, code }
}
