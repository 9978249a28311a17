import { microseconds, perSecond, times } from '../../shared/format.ts'
import { canPin } from '../../shared/machine.ts'
import { type ServerProcess, startWorker } from '../../shared/processes.ts'
import { loadServers } from '../load.ts'
import { target as belowTarget, type Row } from '../row.ts'

const CONNECTIONS = 50
const LEAST_TIMES = 0.6
/** A generator that is busier than this limits the server. */
const MOST_GENERATOR_SHARE = 0.9

const contenders: Row['contenders'] = [
  { id: 'echo', title: 'bare hono echo', kind: 'floor' },
  { id: 'key-object', title: 'hono, zod, verify by `createHmac` with a key object', kind: 'floor' },
  { id: 'subtle', title: 'hono, zod, verify by `crypto.subtle`', kind: 'floor' },
  { id: 'standardwebhooks', title: 'hono, zod, verify by `standardwebhooks`', kind: 'floor' },
  { id: 'pino', title: 'hono, zod, verify by `createHmac` with a key object, pino', kind: 'floor' },
  { id: 'ours', title: 'our host, log included', kind: 'ours' },
]

export const throughput: Row = {
  id: 'throughput',
  title: `Signed HEALTH_CHECKs on \`/auth\` by the second, ${CONNECTIONS} connections, one core`,
  method:
    'Each server runs on one core, the generator (plain sockets, requests prepared beforehand) on another. One server works at a time, in a new order each round. Logs go to a file. The echo parses the JSON of the request and responds with it, unsigned and unchecked. The processor time of an event is what the kernel counts for the server.',
  contenders,
  rounds: 9,
  columns: [
    { value: 'perSecond', title: 'events', format: perSecond, against: ['echo', 'pino'] },
    {
      value: 'cpuMicroseconds',
      title: 'processor time an event',
      format: microseconds,
      against: ['echo', 'pino'],
    },
  ],
  async start({ fixture, quick, contenders }) {
    const generator = await startWorker(await fixture.program('generator'), { core: 1 })
    const servers: Record<string, ServerProcess> = {}
    for (const { id } of contenders) servers[id] = await fixture.startServer(id, { core: 0 })
    const load = (id: string, ms: number) =>
      loadServers(
        [servers[id]].flatMap((server) => server ?? []),
        [generator],
        {
          path: '/auth/webhook',
          connections: CONNECTIONS,
          ms: quick ? 300 : ms,
        },
      )
    return {
      warm: (id) => load(id, 2_000),
      measure: (id) => load(id, 1_000),
      stop: () => Promise.all([generator, ...Object.values(servers)].map((process) => process.stop())),
    }
  },
  targets({ ratio }) {
    const events = ratio('perSecond', 'ours', 'echo')
    const cpu = ratio('cpuMicroseconds', 'ours', 'echo')
    const target = `at least ${times(LEAST_TIMES)} of bare hono echo, log included`
    const measured = `${times(events.median)}; by processor time ${times(1 / cpu.median)}`
    return [
      { target, measured, reached: events.median >= LEAST_TIMES },
      belowTarget(
        'processor time at most 1.00 × of the line with pino',
        ratio('cpuMicroseconds', 'ours', 'pino').median,
        1,
        times,
      ),
    ]
  },
  facts({ spread }) {
    const busiest = Math.max(...contenders.map(({ id }) => spread('generatorShare', id).median))
    const percent = `${Math.round(busiest * 100)} %`
    return [
      busiest > MOST_GENERATOR_SHARE
        ? `**The generator was busy for ${percent} of the time with the fastest server, and limited it.**`
        : `The generator was busy for at most ${percent} of the time (median, with the fastest server), so it limited no server.`,
      ...(canPin ? [] : ['This machine can pin no process to a core.']),
    ]
  },
}
