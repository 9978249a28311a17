/**
 * What sending costs: many messages in a stream, and one at a time.
 *
 * @module
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { Installed } from './install.ts'
import type { Row } from './row.ts'
import { median, quantile } from './statistics.ts'

const run = promisify(execFile)
const program = (name: string) => join(import.meta.dirname, 'programs', name)
const NOT_COMPARED = 'n/a: another provider’s API, with other limits'
const NO_BATCH = 'n/a: it has no call for many mails'

interface Cost {
  wallMs: number
  cpuMicroseconds: number
  peakBytes: number
}

/** 100,000 messages from an async iterable, the server answering after 50 ms. */
export async function streamRows(
  installed: readonly Installed[],
  total: number,
  rounds: number,
): Promise<Row[]> {
  const server = await startServer(50)
  const costs: Record<string, Cost[]> = { stream: [], '1': [], '8': [] }
  for (let round = 0; round < rounds; round += 1) {
    for (const [way, list] of Object.entries(costs)) {
      const project = projectOf(installed, way === 'stream' ? '@org/mailer' : 'postmark')
      const { stdout } = await run(process.execPath, [
        program('stream.mjs'),
        project,
        server.port,
        way,
        String(total),
      ])
      list.push(JSON.parse(stdout))
    }
  }
  server.child.kill()
  const of = (way: string, figure: keyof Cost) => median((costs[way] ?? []).map((cost) => cost[figure]))
  const cells = (ours: string, theirs: string) =>
    installed.map(({ peer }) => {
      if (peer.name === '@org/mailer') return ours
      if (peer.name === 'postmark') return theirs
      return peer.protocol === 'smtp' ? NO_BATCH : NOT_COMPARED
    })
  const both = (figure: keyof Cost, show: (value: number) => string) =>
    cells(show(of('stream', figure)), `${show(of('1', figure))}; ${show(of('8', figure))}`)
  const ratio = (figure: keyof Cost, way: string) => (of('stream', figure) / of(way, figure)).toFixed(2)
  const each = `each in a process of its own, median of ${rounds}; postmark in lists of 500, one call at a time; eight at a time`
  const name = `${total.toLocaleString('en')} messages from an async iterable`
  return [
    {
      title: `${name}: time`,
      cells: both('wallMs', (ms) => `${(ms / 1000).toFixed(2)} s`),
      note: `server with 50 ms; ${each}. Ours is ${ratio('wallMs', '1')} × of one at a time, ${ratio('wallMs', '8')} × of eight.`,
    },
    {
      title: `${name}: processor time for each`,
      cells: both('cpuMicroseconds', (microseconds) => `${microseconds.toFixed(1)} µs`),
      note: `start-up of the HTTP client included. Ours is ${ratio('cpuMicroseconds', '1')} × and ${ratio('cpuMicroseconds', '8')} ×.`,
    },
    {
      title: `${name}: peak memory`,
      cells: both('peakBytes', (bytes) => `${Math.round(bytes / 1e6)} MB`),
      note: `of the whole process. Ours is ${ratio('peakBytes', '1')} × and ${ratio('peakBytes', '8')} ×.`,
    },
  ]
}

/** One mail a call, 50 calls in flight, the server answering at once. */
export async function singleRow(installed: readonly Installed[], rounds: number): Promise<Row> {
  const server = await startServer(0)
  const names = ['@org/mailer', 'postmark']
  const projects = names.map((name) => `${name}=${projectOf(installed, name)}`)
  const { stdout } = await run(process.execPath, [
    program('single.mjs'),
    server.port,
    String(rounds),
    ...projects,
  ])
  server.child.kill()
  const [ours = [], theirs = []]: number[][] = JSON.parse(stdout)
  const show = (costs: number[]) =>
    `${quantile(costs, 0.1).toFixed(0)} µs (median ${median(costs).toFixed(0)})`
  const ratio = quantile(ours, 0.1) / quantile(theirs, 0.1)
  return {
    title: 'One mail a call, 50 in flight: processor time',
    cells: installed.map(({ peer }) => {
      if (peer.name === '@org/mailer') return show(ours)
      return peer.name === 'postmark' ? show(theirs) : NOT_COMPARED
    }),
    note: `in one process, ${rounds} blocks of 300 each in turns; the fastest tenth, because others use the machine too. Ours is ${ratio.toFixed(2)} ×.`,
  }
}

function projectOf(installed: readonly Installed[], name: string): string {
  const found = installed.find(({ peer }) => peer.name === name)
  if (!found) throw new Error(`${name} is not installed.`)
  return found.project
}

async function startServer(delayMs: number): Promise<{ child: ChildProcess; port: string }> {
  const child = spawn(process.execPath, [program('server.mjs'), String(delayMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const port = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The server ended.')))
    createInterface({ input: child.stdout }).once('line', resolve)
  })
  return { child, port }
}
