/**
 * Shows where the processor time of one contender of a row goes, by package and by function:
 *
 * `node --conditions=@org/source bench/profile.ts <row> <contender> [--top 30] [--keep <file>]`
 *
 * The rows are `outbound-call`, `single-send`, `bulk-send`, `throughput`, `host-send` (a mail through the host)
 * and `cold-start`. `--keep` keeps the profile, for the browser's developer tools.
 *
 * @module
 */
import { copyFileSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Arrangement, arrange } from './harness/arrangement.ts'
import { type RunningServer, startServer, startWorker } from './harness/processes.ts'
import { type ProfileSummary, summarizeProfile } from './harness/profile.ts'
import type { LoadOrder, LoadReport } from './programs/generator.ts'
import { IN_FLIGHT } from './rows/calls.ts'
import { hostEnvironment } from './rows/host-environment.ts'

const WARM_CALLS = 6_000
const CALLS = 10_000
const LOAD_MS = 6_000
const MAILS = 100_000
const WRITTEN_MS = 20_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { top: { type: 'string', default: '30' }, keep: { type: 'string' } },
})
const [row = '', contender = 'ours'] = positionals

/** A process that can be profiled, and how it is given work. */
interface Subject {
  pid: number | undefined
  warm: () => Promise<unknown>
  /** Resolves with how many times it did its work. */
  work: () => Promise<number>
}

interface Preparation {
  arrangement: Arrangement
  /** For its process. */
  profiled: { nodeOptions: string[]; environment: Record<string, string> }
}

async function client({ arrangement, profiled }: Preparation): Promise<Subject> {
  const provider = await startServer(await arrangement.program('programs/provider.ts'), '/server')
  const worker = await startWorker(await arrangement.program('programs/caller.ts'), {
    ...profiled,
    parameters: [row, contender, provider.url],
  })
  const make = (calls: number) => worker.ask({ calls, inFlight: IN_FLIGHT })
  return {
    pid: worker.child.pid,
    warm: () => make(WARM_CALLS),
    work: () => make(CALLS).then(() => CALLS),
  }
}

async function bulk({ arrangement, profiled }: Preparation): Promise<Subject> {
  const provider = await startServer(await arrangement.program('programs/provider.ts'), '/server', {
    environment: { DELAY_MS: '50' },
  })
  const parameters = [contender, String(MAILS), provider.url]
  const worker = await startWorker(await arrangement.program('programs/bulk.ts'), { ...profiled, parameters })
  return { pid: worker.child.pid, warm: async () => {}, work: () => worker.ask({}).then(() => MAILS) }
}

async function underLoad(
  { arrangement }: Preparation,
  server: RunningServer,
  order: Pick<LoadOrder, 'path' | 'mix'>,
): Promise<Subject> {
  const generator = await startWorker(await arrangement.program('programs/generator.ts'), { core: 1 })
  const load = (ms: number) => generator.ask<LoadReport>({ ...order, port: server.port, connections: 50, ms })
  return {
    pid: server.child.pid,
    warm: () => load(LOAD_MS / 2),
    work: async () => {
      const { done, statuses } = await load(LOAD_MS)
      if (statuses['200'] !== done) throw new Error(JSON.stringify(statuses))
      return done
    },
  }
}

async function throughput(preparation: Preparation): Promise<Subject> {
  const { arrangement, profiled } = preparation
  const options = { ...profiled, core: 0, parameters: [contender] }
  const environment = { ...profiled.environment, ...hostEnvironment }
  const server =
    contender === 'ours'
      ? await startServer(arrangement.host, '/healthz', { ...options, environment })
      : await startServer(await arrangement.program('programs/verifying-server.ts'), '/healthz', options)
  return underLoad(preparation, server, { path: '/auth/webhook' })
}

async function hostSend(preparation: Preparation): Promise<Subject> {
  const { arrangement, profiled } = preparation
  const provider = await startServer(await arrangement.program('programs/provider.ts'), '/server')
  const environment = {
    ...profiled.environment,
    ...hostEnvironment,
    MAILER_API_BASE: provider.url,
    MAILER_SHARED_API_TOKEN: 'server-token',
    MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
  }
  const server = await startServer(arrangement.host, '/healthz', { ...profiled, core: 0, environment })
  return underLoad(preparation, server, { path: '/mailer/webhook', mix: ['send'] })
}

const subjects: Readonly<Record<string, (preparation: Preparation) => Promise<Subject>>> = {
  'outbound-call': client,
  'single-send': client,
  'bulk-send': bulk,
  throughput,
  'host-send': hostSend,
}

/** A start is profiled from its first moment, by Node itself. */
async function profileStart({ arrangement }: Preparation, file: string): Promise<number> {
  const nodeOptions = [
    '--cpu-prof',
    '--cpu-prof-interval=100',
    `--cpu-prof-dir=${join(file, '..')}`,
    `--cpu-prof-name=${file.split('/').at(-1)}`,
  ]
  const programs: Readonly<Record<string, string>> = {
    hono: 'programs/cold-hono.ts',
    usual: 'programs/cold-usual.ts',
  }
  const source = programs[contender]
  const program = source ? await arrangement.bundle(source) : arrangement.host
  const environment = { ...hostEnvironment, DELIVERY_STORE: `sqlite:${join(arrangement.folder, 'cold.db')}` }
  const server = await startServer(program, '/healthz', { nodeOptions, environment })
  await server.stop()
  return 1
}

async function profileWork(preparation: Preparation, file: string): Promise<number> {
  const subject = await subjects[row]?.(preparation)
  if (subject?.pid === undefined) throw new Error(`Nothing is started for “${row}”.`)
  await subject.warm()
  process.kill(subject.pid, 'SIGUSR2')
  const count = await subject.work()
  process.kill(subject.pid, 'SIGUSR2')
  const deadline = performance.now() + WRITTEN_MS
  while (!existsSync(file) || statSync(file).size === 0) {
    if (performance.now() > deadline) throw new Error('No profile was written.')
    await pause(50)
  }
  // Until it is whole.
  await pause(500)
  return count
}

function print(summary: ProfileSummary, count: number, top: number): void {
  const { busyMicroseconds, packages, functions, functionsWithCalls } = summary
  const line = ({ name, microseconds }: { name: string; microseconds: number }) => {
    const share = ((microseconds / busyMicroseconds) * 100).toFixed(1).padStart(5)
    return `${share} %  ${(microseconds / count).toFixed(1).padStart(9)} µs  ${name}`
  }
  console.log(
    `${count} times, ${(busyMicroseconds / count).toFixed(1)} µs of the main thread each. By package:`,
  )
  for (const spent of packages) if (spent.microseconds / busyMicroseconds > 0.002) console.log(line(spent))
  console.log('By function, its own time alone:')
  for (const spent of functions.slice(0, top)) console.log(line(spent))
  console.log('By function, with what it calls, up to its first await:')
  for (const spent of functionsWithCalls.slice(0, top)) console.log(line(spent))
}

if (!(row in subjects) && row !== 'cold-start') {
  console.error(
    `There is no row “${row}”. There are: ${[...Object.keys(subjects), 'cold-start'].join(', ')}.`,
  )
  process.exit(2)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const arrangement = await arrange((line) => console.error(line))
const file = join(arrangement.folder, 'profile.cpuprofile')
const nodeOptions = ['--import', await arrangement.program('programs/profiler.ts')]
const preparation = { arrangement, profiled: { nodeOptions, environment: { PROFILE_FILE: file } } }
const count = await (row === 'cold-start' ? profileStart : profileWork)(preparation, file)
print(summarizeProfile(file), count, Number(values.top))
if (values.keep) copyFileSync(file, values.keep)
process.exit(0)
