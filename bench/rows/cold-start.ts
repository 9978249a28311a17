import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { milliseconds, times } from '../harness/format.ts'
import { interleave } from '../harness/interleave.ts'
import { freePort, usageOf } from '../harness/processes.ts'
import { ratioOf } from '../harness/ratio.ts'
import type { BenchmarkRow } from '../harness/row.ts'
import { hostEnvironment } from './host-environment.ts'

const ROUNDS = 21
const START_MS = 20_000
const LOOK_AGAIN_MS = 1
const MOST_TIMES = 1.25

/** From nothing to the first answer. */
export const coldStart: BenchmarkRow = {
  id: 'cold-start',
  title: 'Cold start of the bundled host, to the first 200',
  method:
    'From the start of the process to the first 200 on `GET /healthz`, asked again each millisecond. All are bundled into one file by esbuild with the options of the host’s own build. “Compile cache” is `NODE_COMPILE_CACHE`, filled by a start before the first round. Ours keeps its deliveries in SQLite, as by default, in a file that exists; and in memory.',
  contenders: [
    { id: 'hono', title: 'bare hono', kind: 'floor' },
    { id: 'usual', title: 'hono, zod, ky, pino', kind: 'floor' },
    { id: 'usual-cached', title: 'hono, zod, ky, pino; compile cache', kind: 'floor' },
    { id: 'ours', title: 'our host', kind: 'ours' },
    { id: 'ours-memory', title: 'our host, deliveries in memory', kind: 'ours' },
    { id: 'ours-cached', title: 'our host; compile cache', kind: 'ours' },
  ],
  async run({ arrangement, contenders, random, progress, quick }) {
    const [hono, usual] = await Promise.all([
      arrangement.bundle('programs/cold-hono.ts'),
      arrangement.bundle('programs/cold-usual.ts'),
    ])
    const files: Readonly<Record<string, string>> = { hono, usual, 'usual-cached': usual }
    const environmentOf = (id: string): Record<string, string> => ({
      PATH: process.env.PATH ?? '',
      ...hostEnvironment,
      DELIVERY_STORE: id === 'ours-memory' ? 'memory:' : `sqlite:${join(arrangement.folder, 'cold.db')}`,
      ...(id.endsWith('-cached') ? { NODE_COMPILE_CACHE: join(arrangement.folder, 'compiled') } : {}),
    })
    const start = (id: string) => measureStart(files[id] ?? arrangement.host, environmentOf(id))
    // The first start makes the store's file, and what the cache holds.
    for (const { id } of contenders) for (const _ of [1, 2]) await start(id)
    const valuesOf = await interleave({
      ids: contenders.map(({ id }) => id),
      rounds: quick ? 3 : ROUNDS,
      random,
      progress,
      measure: start,
    })
    const samples = valuesOf('startMs')
    const ratio = ratioOf(samples, 'ours', 'hono')
    const cpu = ratioOf(valuesOf('cpuMs'), 'ours', 'hono')
    return {
      figures: [
        { title: 'to the first 200', show: milliseconds, samples, against: ['hono', 'usual'] },
        {
          title: 'processor time until then',
          show: milliseconds,
          samples: valuesOf('cpuMs'),
          against: ['hono'],
        },
      ],
      verdicts: ratio
        ? [
            {
              target: `at most ${times(MOST_TIMES)} of bare hono, as it is shipped`,
              measured: `${times(ratio.median)}${cpu ? `; of its processor time ${times(cpu.median)}` : ''}`,
              reached: ratio.median <= MOST_TIMES,
            },
          ]
        : [],
      facts: [],
    }
  },
}

async function measureStart(
  file: string,
  environment: Record<string, string>,
): Promise<{ startMs: number; cpuMs: number }> {
  const port = await freePort()
  const began = performance.now()
  const child = spawn(process.execPath, [file], {
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  try {
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`${file} ended with ${child.exitCode}.`)
      if (performance.now() - began > START_MS) throw new Error(`${file} does not answer.`)
      await pause(LOOK_AGAIN_MS)
    }
    return { startMs: performance.now() - began, cpuMs: usageOf(child).cpuMs }
  } finally {
    await end(child, ended)
  }
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode === null) {
    // By the exit in order, which also writes the compile cache.
    child.kill('SIGTERM')
    await ended
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: '/healthz', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', () => resolve(false))
  })
}
