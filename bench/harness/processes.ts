/**
 * The processes of a run: each ends with the run, however that ends.
 *
 * @module
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { pinned } from './machine.ts'

const START_MS = 30_000
const STOP_MS = 10_000

/** How a program is started. */
export interface ProgramOptions {
  parameters?: readonly string[]
  environment?: Record<string, string>
  /** The core that it is held to. */
  core?: number
  /** For node itself. */
  nodeOptions?: readonly string[]
  /** A file that its standard output goes to. */
  output?: number
}

/** A program that answers one message at a time. */
export interface Worker {
  ask<Answer>(question: unknown, limitMs?: number): Promise<Answer>
  child: ChildProcess
  /** Closes its channel, and waits until it has ended by itself. */
  end(): Promise<void>
}

/** Starts a program that says `{ ready: true }` when it can be asked. */
export async function startWorker(file: string, options: ProgramOptions = {}): Promise<Worker> {
  const child = launch(file, options, ['ignore', 'inherit', 'inherit', 'ipc'])
  const worker: Worker = {
    child,
    ask: (question, limitMs = 120_000) => {
      const answer = answerOf<never>(child, limitMs)
      child.send(question ?? {})
      return answer
    },
    async end() {
      if (child.connected) child.disconnect()
      await ended(child)
    },
  }
  await answerOf(child, START_MS)
  return worker
}

function answerOf<Answer>(child: ChildProcess, limitMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(
      () => settle(new Error(`${nameOf(child)} gave no answer in ${limitMs} ms.`)),
      limitMs,
    )
    const onExit = (code: number | null) => settle(new Error(`${nameOf(child)} ended with ${code}.`))
    const onMessage = (message: Answer & { error?: string }) =>
      settle(
        message.error === undefined ? undefined : new Error(`${nameOf(child)}: ${message.error}`),
        message,
      )
    function settle(error: Error | undefined, answer?: Answer): void {
      clearTimeout(limit)
      child.off('exit', onExit)
      child.off('message', onMessage)
      if (error || answer === undefined) reject(error)
      else resolve(answer)
    }
    child.on('exit', onExit)
    child.on('message', onMessage)
  })
}

/** A server at a port that it was told by `PORT`. */
export interface RunningServer {
  child: ChildProcess
  port: number
  url: string
  stop(): Promise<void>
}

/** Starts a server, and waits for its first 200 at `path`. */
export async function startServer(
  file: string,
  path: string,
  options: ProgramOptions = {},
): Promise<RunningServer> {
  const port = await freePort()
  const environment = { ...options.environment, PORT: String(port) }
  const child = launch(file, { ...options, environment }, ['ignore', options.output ?? 'ignore', 'inherit'])
  const url = `http://127.0.0.1:${port}`
  const deadline = performance.now() + START_MS
  for (;;) {
    if (hasEnded(child)) throw new Error(`${nameOf(child)} ended with ${child.exitCode ?? child.signalCode}.`)
    if (performance.now() > deadline) throw new Error(`${nameOf(child)} does not answer.`)
    const found = await fetch(url + path).catch(() => undefined)
    await found?.arrayBuffer()
    if (found?.ok) break
    await pause(20)
  }
  return {
    child,
    port,
    url,
    async stop() {
      child.kill('SIGTERM')
      await ended(child)
    },
  }
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function launch(file: string, options: ProgramOptions, stdio: StdioOptions): ChildProcess {
  const { parameters = [], nodeOptions = [], environment = {}, core } = options
  const [command, all] = pinned(core, process.execPath, [...nodeOptions, file, ...parameters])
  const child = spawn(command, all, { stdio, env: { PATH: process.env.PATH ?? '', ...environment } })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null
}

/** Resolves when it has ended; one that does not is killed. */
async function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  const limit = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(limit)
}

function nameOf({ spawnargs }: ChildProcess): string {
  return spawnargs.slice(-3).join(' ')
}

/** What the kernel counted for a process; Linux alone tells. */
export interface Usage {
  /** Of all its threads, in milliseconds. */
  cpuMs: number
  /** Resident, in bytes. */
  residentBytes: number
}

/** Reads it. */
export function usageOf({ pid }: ChildProcess): Usage {
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { cpuMs: cpuOf(pid), residentBytes: Number(resident) * 1024 }
}

/** By what the scheduler counts, in nanoseconds: the times of `/proc/<pid>/stat` are in hundredths of a second. */
function cpuOf(pid: number | undefined): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  return threads.reduce((sum, thread) => sum + nanosecondsOf(`/proc/${pid}/task/${thread}`), 0) / 1e6
}

function nanosecondsOf(thread: string): number {
  try {
    const [used = ''] = readFileSync(`${thread}/schedstat`, 'utf8').split(' ')
    return Number(used)
  } catch {
    // It ended meanwhile.
    return 0
  }
}

/** A port of the loopback interface that nobody listens at. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address
          ? resolve(address.port)
          : reject(new Error('There is no port.')),
      )
    })
  })
}
