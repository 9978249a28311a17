import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { until } from './clock.ts'
import type { Order, StoreWrite } from './dying-store.ts'

/** Of its log. */
const LINES_KEPT = 200
const START_MS = 30_000

const source = new URL('./host.ts', import.meta.url).pathname

/** How a host is started. */
export interface HostProcessOptions {
  environment: Record<string, string>
  /** @default 1,000 */
  leaseMs?: number
  /** @default 1,000 */
  settleMs?: number
  /** Told of every write to its store. */
  onStoreWrite?: (write: StoreWrite) => void
}

/** A host as a process of its own. */
export interface HostProcess {
  /** Where it listens; another after a restart. */
  readonly url: string
  readonly alive: boolean
  /** Whether it is held by SIGSTOP. */
  readonly stopped: boolean
  /** The newest lines of its log. */
  readonly log: string[]
  /** It gets the signal at the n-th write to its store from now on. */
  signalAtWrite(order: Order): Promise<void>
  kill(): void
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
  pause(): void
  resume(): void
  exited(): Promise<number | null>
  /** Why it ended although nobody had told it to, one entry for each time. */
  readonly falls: readonly string[]
  /** Starts it anew where it is dead. */
  restart(): Promise<void>
}

/** Starts a host, and resolves when it listens. */
export async function startHost(options: HostProcessOptions): Promise<HostProcess> {
  const falls: string[] = []
  const start = async () => {
    const started = await launch(options)
    started.exit.then((code) => {
      if (code !== null && code !== 0) falls.push(`exit ${code}: ${started.log.slice(-8).join('\n')}`)
    })
    return started
  }
  let running = await start()
  const isAlive = () => running.child.exitCode === null && running.child.signalCode === null
  return {
    get url() {
      return running.url
    },
    get alive() {
      return isAlive()
    },
    get stopped() {
      return isAlive() && readStat(running.child.pid)[0] === 'T'
    },
    get log() {
      return running.log
    },
    signalAtWrite: (order) =>
      new Promise((resolve, reject) => {
        running.child.once('message', () => resolve())
        running.child.send(order, (error) => error && reject(error))
      }),
    kill: () => void running.child.kill('SIGKILL'),
    async stop() {
      running.child.kill('SIGTERM')
      return running.exit
    },
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
    exited: () => running.exit,
    falls,
    async restart() {
      if (!isAlive()) running = await start()
    },
  }
}

/** What Linux tells of a process: the fields after its name, the first of which is its state. */
function readStat(pid: number | undefined): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

interface Running {
  child: ChildProcess
  url: string
  log: string[]
  exit: Promise<number | null>
}

async function launch(options: HostProcessOptions): Promise<Running> {
  const { environment, leaseMs = 1_000, settleMs = 1_000, onStoreWrite } = options
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--conditions=@org/source', source],
    {
      env: {
        PATH: process.env.PATH ?? '',
        ...environment,
        PORT: '0',
        CHAOS_LEASE_MS: String(leaseMs),
        CHAOS_SETTLE_MS: String(settleMs),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    },
  )
  const log: string[] = []
  const keep = (line: string) => void (log.push(line) > LINES_KEPT && log.shift())
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
  child.stderr?.on('data', (chunk) => keep(String(chunk)))
  const port = new Promise<number>((resolve, reject) => {
    setTimeout(() => reject(new Error('The host does not listen.')), START_MS).unref()
    exit.then(() => reject(new Error(`The host ended without listening: ${log.slice(-5).join('\n')}`)))
    if (!child.stdout) return
    createInterface({ input: child.stdout }).on('line', (line) => {
      const fact = parse(line)
      if (fact?.chaos) onStoreWrite?.(fact.chaos)
      else keep(line)
      if (fact?.port) resolve(fact.port)
    })
  })
  const url = `http://127.0.0.1:${await port}`
  await until('the host is ready', async () => (await fetch(`${url}/readyz`)).ok, START_MS)
  return { child, log, exit, url }
}

function parse(line: string): { chaos?: StoreWrite; port?: number } | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
