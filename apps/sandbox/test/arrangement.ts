import { run } from '../src/run.ts'
import type { Terminal } from '../src/terminal.ts'
import type { Walk } from '../src/walk/step.ts'
import type { Environment, World } from '../src/world.ts'

/** A terminal that keeps what is printed. */
function createTerminal(width = 100): Terminal & { text(): string; errors(): string } {
  let text = ''
  let errors = ''
  return {
    write(more) {
      text += more
    },
    writeError(more) {
      errors += more
    },
    width,
    colours: false,
    text: () => text,
    errors: () => errors,
  }
}

interface Setup {
  environment?: Environment
  walks?: readonly Walk[]
  width?: number
  /** Runs while the host stays up; without it, the run ends after the walks. */
  visit?: (world: World) => Promise<void>
}

/** A run of the sandbox on a free port, with nothing of this machine's environment. */
export async function runSandbox({ environment, walks, width, visit }: Setup = {}) {
  const terminal = createTerminal(width)
  const end = new AbortController()
  let visited: Promise<void> = Promise.resolve()
  const code = await run({
    environment: { PORT: '0', ...environment },
    terminal,
    once: visit === undefined,
    signal: end.signal,
    walks,
    onReady(world) {
      visited = (visit ?? (async () => {}))(world).finally(() => end.abort())
    },
  })
  await visited
  return { code, output: terminal.text(), errors: terminal.errors() }
}
