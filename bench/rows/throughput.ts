import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { Arrangement } from '../harness/arrangement.ts'
import { microseconds, perSecond, times } from '../harness/format.ts'
import { interleave } from '../harness/interleave.ts'
import { canPin } from '../harness/machine.ts'
import { type RunningServer, startServer, startWorker, usageOf } from '../harness/processes.ts'
import { ratioOf, spreadOf } from '../harness/ratio.ts'
import type { BenchmarkRow, Contender } from '../harness/row.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import { hostEnvironment } from './host-environment.ts'

const CONNECTIONS = 50
const ROUNDS = 9
const ROUND_MS = 1_000
const WARM_MS = 2_000
const LEAST_TIMES = 0.6
/** A generator that works longer than this is what is measured. */
const MOST_GENERATOR_SHARE = 0.9

/** Signed events by the second. */
export const throughput: BenchmarkRow = {
  id: 'throughput',
  title: `Signed HEALTH_CHECKs on \`/auth\` by the second, ${CONNECTIONS} connections, one core`,
  method:
    'Each server is held to one core, the generator (plain sockets, requests laid out beforehand) to another. One server works at a time, in a new order each round. Whoever logs writes to a file. The echo parses the JSON of the request and answers with it, unsigned and unchecked. The processor time of an event is what the kernel counted for the server.',
  contenders: [
    { id: 'echo', title: 'bare hono echo', kind: 'floor' },
    { id: 'node', title: '`node:http`, zod, verify', kind: 'floor' },
    { id: 'key-object', title: 'hono, zod, verify by `createHmac` with a key object', kind: 'floor' },
    { id: 'raw-key', title: 'hono, zod, verify by `createHmac` with the raw key', kind: 'floor' },
    { id: 'subtle', title: 'hono, zod, verify by `crypto.subtle`', kind: 'floor' },
    { id: 'standardwebhooks', title: 'hono, zod, verify by `standardwebhooks`', kind: 'floor' },
    { id: 'pino', title: 'hono, zod, verify by `createHmac` with a key object, pino', kind: 'floor' },
    { id: 'ours', title: 'our host, log included', kind: 'ours' },
  ],
  async run({ arrangement, contenders, random, progress, quick }) {
    const generator = await startWorker(await arrangement.program('programs/generator.ts'), { core: 1 })
    const servers = await startServers(arrangement, contenders)
    const order = (id: string, ms: number): LoadOrder => ({
      port: servers.get(id)?.port ?? 0,
      path: '/auth/webhook',
      connections: CONNECTIONS,
      ms,
    })
    async function measure(id: string, ms: number) {
      const server = servers.get(id)
      if (!server) throw new Error(`${id} is not there.`)
      const before = usageOf(server.child).cpuMs
      const report = await generator.ask<LoadReport>(order(id, ms))
      const { done, wallMs, cpuShare, statuses } = report
      if (statuses['200'] !== done) throw new Error(`${id} answered ${JSON.stringify(statuses)}.`)
      return {
        perSecond: (done * 1_000) / wallMs,
        cpuMicroseconds: ((usageOf(server.child).cpuMs - before) * 1_000) / done,
        generatorShare: cpuShare,
      }
    }
    for (const { id } of contenders) {
      progress(`warming ${id}`)
      await measure(id, quick ? 300 : WARM_MS)
    }
    const valuesOf = await interleave({
      ids: [...servers.keys()],
      rounds: quick ? 3 : ROUNDS,
      random,
      progress,
      measure: (id) => measure(id, quick ? 300 : ROUND_MS),
    })
    for (const server of servers.values()) await server.stop()
    await generator.end()

    const rates = valuesOf('perSecond')
    const ratio = ratioOf(rates, 'ours', 'echo')
    const cpu = ratioOf(valuesOf('cpuMicroseconds'), 'ours', 'echo')
    const shares = Object.values(valuesOf('generatorShare')).map((values) => spreadOf(values).median)
    return {
      figures: [
        { title: 'events', show: perSecond, samples: rates, against: ['echo', 'pino'] },
        {
          title: 'processor time an event',
          show: microseconds,
          samples: valuesOf('cpuMicroseconds'),
          against: ['echo'],
        },
      ],
      verdicts: ratio
        ? [
            {
              target: `at least ${times(LEAST_TIMES)} of bare hono echo, log included`,
              measured: `${times(ratio.median)}${cpu ? `; by processor time ${times(1 / cpu.median)}` : ''}`,
              reached: ratio.median >= LEAST_TIMES,
            },
          ]
        : [],
      facts: [
        describeGenerator(Math.max(...shares)),
        ...(canPin ? [] : ['Nothing could be held to a core here.']),
      ],
    }
  },
}

async function startServers(
  arrangement: Arrangement,
  contenders: readonly Contender[],
): Promise<Map<string, RunningServer>> {
  const verifying = await arrangement.program('programs/verifying-server.ts')
  const servers = new Map<string, RunningServer>()
  for (const { id } of contenders) {
    const options = { core: 0, output: openSync(join(arrangement.folder, `${id}.log`), 'a') }
    const server =
      id === 'ours'
        ? await startServer(arrangement.host, '/healthz', { ...options, environment: hostEnvironment })
        : await startServer(verifying, '/healthz', { ...options, parameters: [id] })
    servers.set(id, server)
  }
  return servers
}

function describeGenerator(share: number): string {
  const percent = `${Math.round(share * 100)} %`
  return share > MOST_GENERATOR_SHARE
    ? `**The generator was busy for ${percent} of the time with the fastest server: it is what limits that one.**`
    : `The generator was busy for at most ${percent} of the time (median, with the fastest server), so it limits none.`
}
