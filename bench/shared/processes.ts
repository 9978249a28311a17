/** Child processes and temporary folders. They end when this process ends, for whatever reason. */
import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from './clock.ts'

/** Whether a process can be pinned to a core: the machine has `taskset` and more than one core. */
const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
/** So long that only a process that hangs exceeds it, on a busy machine, too. */
const START_MS = 150_000
/** Longer than a host may take to finish its events after SIGTERM. */
const STOP_MS = 60_000
const LINES_KEPT = 1_000

export interface LaunchOptions {
  parameters?: readonly string[]
  /** The process sees `PATH` and these variables, and no others. */
  environment?: Readonly<Record<string, string | undefined>>
  cwd?: string
  /** The core that the process is pinned to, if this machine can do so. */
  core?: number
  /** A file descriptor for standard output, which is piped otherwise. */
  output?: number
  ipc?: boolean
}

export type Process = ReturnType<typeof launch>

const running = new Set<ChildProcess>()
const folders = new Set<string>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Makes an empty folder, which is deleted at the end of this process. */
export function makeFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'bench-'))
  folders.add(folder)
  return folder
}

export function launch(command: string, options: LaunchOptions = {}) {
  const { parameters = [], environment = {}, cwd, core, output, ipc = false } = options
  const stdio: StdioOptions = ['ignore', output ?? 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])]
  const env = { PATH: process.env.PATH, ...environment }
  const [program = '', ...rest] = [
    ...(canPin && core !== undefined ? ['taskset', '-c', String(core)] : []),
    ...[command, ...parameters],
  ]
  const child = spawn(program, rest, { stdio, env, cwd })
  const log: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (log.push(line) > LINES_KEPT) log.shift()
    })
  }
  running.add(child)
  const exit = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  exit.then(() => running.delete(child))
  const isAlive = () => child.exitCode === null && child.signalCode === null
  return {
    child,
    log,
    exit,
    get alive() {
      return isAlive()
    },
    /**
     * Resolves as soon as `holds` returns true.
     *
     * @throws if the process ends before, or after 150 seconds
     */
    async ready(holds: () => boolean | Promise<boolean>, everyMs?: number): Promise<void> {
      const isOver = async () => !isAlive() || holds()
      const isReady = await until('it is ready', isOver, START_MS, everyMs).then(isAlive, () => false)
      if (!isReady)
        throw new Error(`${[command, ...parameters].slice(-3).join(' ')} is not ready: ${log.join('\n')}`)
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exit
    },
    /** Sends SIGTERM, after 60 seconds SIGKILL, and resolves with the exit code. */
    async stop() {
      child.kill('SIGTERM')
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      return exit.finally(() => clearTimeout(limit))
    },
  }
}

function launchNode(file: string, { parameters = [], ...options }: LaunchOptions = {}): Process {
  return launch(process.execPath, { ...options, parameters: [file, ...parameters] })
}

export type ServerProcess = Awaited<ReturnType<typeof startServer>>

/** Starts a server that takes its port from `PORT`, and waits for its first 200 at `path`. */
export async function startServer(
  file: string,
  path: string,
  { environment, port = nextPort(), ...options }: LaunchOptions & { port?: number } = {},
) {
  const began = performance.now()
  const url = `http://127.0.0.1:${port}`
  const server = launchNode(file, { ...options, environment: { ...environment, PORT: String(port) } })
  await server.ready(async () => {
    const [response] = await once(get(url + path, { agent: false }), 'response')
    response.resume()
    return response.statusCode === 200
  }, 1)
  return Object.assign(server, { port, url, startMs: performance.now() - began })
}

/** Starts a server that logs its port. */
export async function startListening(file: string, options: LaunchOptions) {
  const server = launchNode(file, options)
  const port = () => Number(/"port":(\d+)/.exec(server.log.join('\n'))?.[1])
  await server.ready(() => port() > 0)
  return Object.assign(server, { port: port(), url: `http://127.0.0.1:${port()}` })
}

export type WorkerProcess = Awaited<ReturnType<typeof startWorker>>

/** Starts a program that works on orders, see `serveOrders`. */
export async function startWorker(file: string, options: LaunchOptions = {}) {
  const worker = launchNode(file, { ...options, ipc: true })
  const ended = worker.exit.then((code) => {
    throw new Error(`${file} ended with ${code}: ${worker.log.join('\n')}`)
  })
  // Each order waits for the end by itself.
  ended.catch(() => {})
  const receive = () => Promise.race([once(worker.child, 'message'), ended])
  await receive()
  return Object.assign(worker, {
    /** Gives an order. The last one must have been answered. */
    async ask<Report>(order: object): Promise<Report> {
      worker.child.send(order)
      const [report] = await receive()
      return report
    },
  })
}

/** Reads from `/proc`, which only Linux has, the processor time of all threads and the resident memory. */
export function usageOf({ child: { pid } }: Pick<Process, 'child'>): {
  cpuMs: number
  residentBytes: number
} {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  const nanoseconds = readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    try {
      // `schedstat` counts nanoseconds, `stat` only hundredths of a second.
      return sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0])
    } catch {
      // The thread has ended.
      return sum
    }
  }, 0)
  return { cpuMs: nanoseconds / 1e6, residentBytes: Number(resident) * 1024 }
}

/** Below the range from which Linux takes the ports of outgoing connections, which would take one before its server. */
const FIRST_PORT = 20_000
const PORTS = 12_000
/** Processes with neighbouring ids run at the same time, so that their ports lie apart. */
let given = process.pid * 97

/** A port for a server of this process, another one at each call. */
export function nextPort(): number {
  given += 1
  return FIRST_PORT + (given % PORTS)
}
