/**
 * The bundle that ships, as a process of its own in an empty folder, between a platform and providers over HTTP.
 */
import { type SpawnOptions, spawn } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const built = new URL('../dist/node', import.meta.url).pathname

/** How a process is started. */
export interface StartOptions {
  environment: Record<string, string | undefined>
  /** The working directory. @default an empty one */
  folder?: string
  /** The folder of the bundle. @default {@link bundle} */
  program?: string
  /** For Node. */
  flags?: readonly string[]
  user?: Pick<SpawnOptions, 'uid' | 'gid'>
  /** A command that runs another one, such as `unshare`. */
  within?: readonly string[]
}

/** One line of the host's log. */
type LogLine = Record<string, unknown> & { message?: string }

/** The bundle as a running process. */
export interface Shipped {
  pid: number | undefined
  /** Rejects if the process ends without listening. */
  url: Promise<string>
  log: LogLine[]
  /** Everything on standard error. */
  errors(): string
  /** Closes its standard output, as a reader does that goes away. */
  closeLog(): void
  /** Stops to read its standard output, until the function that it returns is called. */
  pauseLog(): () => void
  kill(signal: NodeJS.Signals): void
  exit: Promise<number | null>
}

/** An empty folder. */
export const createFolder = () => mkdtempSync(join(tmpdir(), 'host-'))

/** A copy of the bundle outside of the repository, where nothing else can be loaded. */
export const bundle = createFolder()
// Others may run it too.
chmodSync(bundle, 0o755)
cpSync(built, bundle, { recursive: true, filter: (path) => !/\.(map|cache)$/.test(path) })

/** Starts the bundle on a free port, with a store in memory unless `environment` says otherwise. */
export function startShipped(options: StartOptions): Shipped {
  const { environment, folder, program = bundle, flags = [], user = {}, within = [] } = options
  const [command = process.execPath, ...args] = [
    ...within,
    process.execPath,
    ...flags,
    join(program, 'node.mjs'),
  ]
  const child = spawn(command, args, {
    cwd: folder ?? createFolder(),
    env: { PORT: '0', DELIVERY_STORE: 'memory:', ...environment },
    ...user,
  })
  const log: LogLine[] = []
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const { promise: url, resolve, reject } = Promise.withResolvers<string>()
  // Not every test asks for it.
  url.catch(() => {})
  const lines = createInterface({ input: child.stdout }).on('line', (text) => {
    const line: LogLine = JSON.parse(text)
    log.push(line)
    if (line.port) resolve(`http://127.0.0.1:${line.port}`)
  })
  exit.then(() => reject(new Error(`The host ended without listening: ${errors}`)))
  return {
    pid: child.pid,
    url,
    log,
    errors: () => errors,
    closeLog: () => void child.stdout.destroy(),
    pauseLog() {
      lines.pause()
      return () => void lines.resume()
    },
    kill: (signal) => void child.kill(signal),
    exit,
  }
}
