/** Child processes. Each of them ends when this process ends, for whatever reason. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { pinned } from './machine.ts'
import type { Order, Outcome } from './serve-orders.ts'

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
  /** The core that the process is pinned to. */
  core?: number
  /** A file descriptor for standard output, which is piped otherwise. */
  output?: number
  ipc?: boolean
}

export type Process = ReturnType<typeof launch>

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function launch(command: string, options: LaunchOptions = {}) {
  const { parameters = [], environment = {}, cwd, core, output, ipc = false } = options
  const stdio: StdioOptions = ['ignore', output ?? 'pipe', 'pipe', ...(ipc ? (['ipc'] as const) : [])]
  const env = { PATH: process.env.PATH, ...environment }
  const child = spawn(...pinned(core, command, parameters), { stdio, env, cwd })
  const log: string[] = []
  const lines = new EventEmitter().setMaxListeners(0)
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      if (log.push(line) > LINES_KEPT) log.shift()
      lines.emit('line', line)
    })
  }
  running.add(child)
  const exit = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', resolve)
  })
  exit.then(() => running.delete(child))
  const failure = (reason: string) =>
    new Error(`${[command, ...parameters].slice(-3).join(' ')} ${reason}: ${log.slice(-8).join('\n')}`)
  return {
    child,
    log,
    exit,
    get alive() {
      return child.exitCode === null && child.signalCode === null
    },
    /**
     * Resolves with the first line that matches.
     *
     * @throws if the process ends before, or after 150 seconds
     */
    line: (pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const look = (line: string) => {
          const match = pattern.exec(line)
          if (match) resolve(match)
        }
        log.forEach(look)
        lines.on('line', look)
        exit.then((code) => reject(failure(`ended with ${code}`)))
        setTimeout(() => reject(failure('is not ready')), START_MS).unref()
      }),
    /** Sends SIGTERM, after 60 seconds SIGKILL, and resolves with the exit code. */
    async stop() {
      child.kill('SIGTERM')
      const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      return exit.finally(() => clearTimeout(limit))
    },
  }
}

export function launchNode(file: string, { parameters = [], ...options }: LaunchOptions = {}): Process {
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
  const elapsed = () => performance.now() - began
  const server = launchNode(file, { ...options, environment: { ...environment, PORT: String(port) } })
  while (!(await responds(port, path))) {
    if (!server.alive || elapsed() > START_MS)
      throw new Error(`${file} does not listen: ${server.log.join('\n')}`)
    await pause(1)
  }
  const startMs = elapsed()
  return Object.assign(server, { port, url: `http://127.0.0.1:${port}`, startMs })
}

function responds(port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}

export type WorkerProcess = Awaited<ReturnType<typeof startWorker>>

export async function startWorker(file: string, options: LaunchOptions = {}) {
  const worker = launchNode(file, { ...options, ipc: true })
  const ended = worker.exit.then((code) => {
    throw new Error(`${file} ended with ${code}: ${worker.log.join('\n')}`)
  })
  await Promise.race([once(worker.child, 'message'), ended])
  // Each order waits for the end by itself.
  ended.catch(() => {})
  const settle = new Map<number, (outcome: Outcome) => void>()
  let orders = 0
  worker.child.on('message', (outcome: Outcome) => settle.get(outcome.id)?.(outcome))
  return Object.assign(worker, {
    async ask<Report>(payload: unknown): Promise<Report> {
      const id = orders++
      const settled = new Promise<Outcome>((resolve) => settle.set(id, resolve))
      worker.child.send({ id, payload } satisfies Order)
      const outcome = await Promise.race([settled, ended])
      settle.delete(id)
      if ('error' in outcome) throw new Error(`${file}: ${outcome.error}`)
      return outcome.report
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
