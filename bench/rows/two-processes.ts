import { openSync } from 'node:fs'
import { join } from 'node:path'
import { hasRedis, startRedis } from '../chaos/redis.ts'
import { microseconds, perSecond, times } from '../harness/format.ts'
import { interleave } from '../harness/interleave.ts'
import { startServer, startWorker, usageOf } from '../harness/processes.ts'
import { ratioOf } from '../harness/ratio.ts'
import type { BenchmarkRow, Contender } from '../harness/row.ts'
import type { LoadOrder, LoadReport } from '../programs/generator.ts'
import { hostEnvironment } from './host-environment.ts'

const CONNECTIONS = 32
const ROUNDS = 7
const ROUND_MS = 2_000

/** What is sent, and to how many hosts. */
const ways = {
  'health-1': { hosts: 1, path: '/auth/webhook', mix: ['health'] },
  'health-2': { hosts: 2, path: '/auth/webhook', mix: ['health'] },
  'send-1': { hosts: 1, path: '/mailer/webhook', mix: ['send'] },
  'send-2': { hosts: 2, path: '/mailer/webhook', mix: ['send'] },
} as const
const isWay = (id: string): id is keyof typeof ways => Object.hasOwn(ways, id)

const contenders: readonly Contender[] = [
  { id: 'health-1', title: 'HEALTH_CHECK on `/auth`, one host', kind: 'ours' },
  { id: 'health-2', title: 'HEALTH_CHECK on `/auth`, two hosts', kind: 'ours' },
  { id: 'send-1', title: '`sendEmail` on `/mailer`, one host', kind: 'ours' },
  { id: 'send-2', title: '`sendEmail` on `/mailer`, two hosts', kind: 'ours' },
]

/** What a second process brings. */
export const twoProcesses: BenchmarkRow = {
  id: 'two-processes',
  title: 'Two processes on two cores with one Redis: gain over one',
  method: `Each host is held to a core of its own; ${CONNECTIONS} connections in all. \`sendEmail\` is claimed in Redis and calls a provider in another process; a health check on \`/auth\` touches neither. The generators, Redis and the provider have no core of their own on a machine with two: they run beside the hosts, and with two hosts there is nothing left for them to run on. So the gain in events by the second is what this machine gives, and the processor time of an event (of the hosts alone) is what says how far the second host would bring it where the others run elsewhere: as long as an event costs no more at two hosts than at one, two hosts do twice as much.`,
  contenders,
  async run({ arrangement, contenders, random, progress, quick }) {
    if (!hasRedis) throw new Error('There is no redis-server here; Debian’s package is “redis-server”.')
    const [generatorProgram, providerProgram] = await Promise.all([
      arrangement.program('programs/generator.ts'),
      arrangement.program('programs/provider.ts'),
    ])
    const redis = await startRedis()
    const provider = await startServer(providerProgram, '/server')
    const environment = {
      ...hostEnvironment,
      DELIVERY_STORE: redis.url,
      MAILER_API_BASE: provider.url,
      MAILER_SHARED_API_TOKEN: 'server-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
    }
    const hosts = await Promise.all(
      [0, 1].map((core) => {
        const output = openSync(join(arrangement.folder, `two-${core}.log`), 'a')
        return startServer(arrangement.host, '/readyz', { core, output, environment })
      }),
    )
    const generators = await Promise.all(hosts.map(() => startWorker(generatorProgram)))

    async function measure(id: string, ms: number) {
      if (!isWay(id)) throw new Error(`There is no ${id}.`)
      const { hosts: count, path, mix } = ways[id]
      const used = () => hosts.reduce((sum, { child }) => sum + usageOf(child).cpuMs, 0)
      const before = used()
      const reports = await Promise.all(
        generators.slice(0, count).map((generator, at) => {
          const port = hosts[at]?.port ?? 0
          const order: LoadOrder = { port, path, mix, ms, connections: CONNECTIONS / count }
          return generator.ask<LoadReport>(order)
        }),
      )
      const done = reports.reduce((sum, report) => sum + report.done, 0)
      const fine = reports.reduce((sum, report) => sum + (report.statuses['200'] ?? 0), 0)
      if (fine !== done) throw new Error(`${id}: ${JSON.stringify(reports.map(({ statuses }) => statuses))}`)
      return {
        perSecond: reports.reduce((sum, report) => sum + (report.done * 1_000) / report.wallMs, 0),
        cpuMicroseconds: ((used() - before) * 1_000) / done,
        generatorMicroseconds: (reports.reduce((sum, report) => sum + report.cpuMs, 0) * 1_000) / done,
      }
    }
    for (const { id } of contenders) {
      progress(`warming ${id}`)
      await measure(id, quick ? 300 : ROUND_MS)
    }
    const valuesOf = await interleave({
      ids: contenders.map(({ id }) => id),
      rounds: quick ? 2 : ROUNDS,
      random,
      progress,
      measure: (id) => measure(id, quick ? 300 : ROUND_MS),
    })
    for (const worker of generators) await worker.end()
    for (const { stop } of [...hosts, provider]) await stop()
    await redis.close()

    const rates = valuesOf('perSecond')
    const cpu = valuesOf('cpuMicroseconds')
    const gains = (['health', 'send'] as const).map((kind) => {
      const gain = ratioOf(rates, `${kind}-2`, `${kind}-1`)
      const cost = ratioOf(cpu, `${kind}-2`, `${kind}-1`)
      if (!gain || !cost) return ''
      const name = kind === 'health' ? 'HEALTH_CHECK' : '`sendEmail`'
      return `${name}: two hosts do ${times(gain.median)} as many events (${times(gain.least)}–${times(gain.most)}) on this machine; an event costs the hosts ${times(cost.median)} of the processor time, so with the others elsewhere ${times(2 / cost.median)}.`
    })
    return {
      figures: [
        { title: 'events', show: perSecond, samples: rates, against: [] },
        { title: 'processor time an event, hosts', show: microseconds, samples: cpu, against: [] },
        {
          title: 'processor time an event, generators',
          show: microseconds,
          samples: valuesOf('generatorMicroseconds'),
          against: [],
        },
      ],
      verdicts: [],
      facts: gains.filter((gain) => gain !== ''),
    }
  },
}
