import { hasRedis, startRedis } from '../../chaos/redis.ts'
import { microseconds, perSecond, times } from '../../shared/format.ts'
import { startWorker } from '../../shared/processes.ts'
import { loadServers } from '../load.ts'
import type { Row } from '../row.ts'

const CONNECTIONS = 32

export const twoProcesses: Row = {
  id: 'two-processes',
  title: 'Two processes on two cores with one Redis: gain over one',
  method: `Each host runs on a core of its own, with ${CONNECTIONS} connections in all. \`sendEmail\` claims the delivery in Redis and calls a provider in another process; a health check on \`/auth\` needs neither. On a machine with two cores the generators, Redis and the provider share the cores of the hosts, and two hosts leave them nothing. The events a second therefore show what this machine gains. The processor time of an event, of the hosts alone, shows what a second host gains if the others run elsewhere: two hosts do twice as much as long as an event costs the same with two hosts as with one.`,
  contenders: [
    { id: 'health-1', title: 'HEALTH_CHECK on `/auth`, one host', kind: 'ours' },
    { id: 'health-2', title: 'HEALTH_CHECK on `/auth`, two hosts', kind: 'ours' },
    { id: 'send-1', title: '`sendEmail` on `/mailer`, one host', kind: 'ours' },
    { id: 'send-2', title: '`sendEmail` on `/mailer`, two hosts', kind: 'ours' },
  ],
  rounds: 7,
  columns: [
    { value: 'perSecond', title: 'events', format: perSecond },
    { value: 'cpuMicroseconds', title: 'processor time an event, hosts', format: microseconds },
  ],
  async start({ fixture, quick }) {
    if (!hasRedis) throw new Error('redis-server is missing. Install the Debian package redis-server.')
    const redis = await startRedis()
    const provider = await fixture.startProvider()
    const environment = {
      DELIVERY_STORE: redis.url,
      MAILER_API_BASE: provider.url,
      MAILER_SHARED_API_TOKEN: 'server-token',
      MAILER_SHARED_FROM_EMAIL: 'shop@example.com',
    }
    const hosts = await Promise.all([0, 1].map((core) => fixture.startServer('ours', { core, environment })))
    const program = await fixture.program('generator')
    const generators = await Promise.all(hosts.map(() => startWorker(program)))
    const load = (id: string) =>
      loadServers(hosts.slice(0, Number(id.at(-1))), generators, {
        ...(id.startsWith('send')
          ? { path: '/mailer/webhook', mix: ['send'] }
          : { path: '/auth/webhook', mix: ['health'] }),
        connections: CONNECTIONS,
        ms: quick ? 300 : 2_000,
      })
    return {
      warm: load,
      measure: load,
      async stop() {
        await Promise.all([...generators, ...hosts, provider].map((process) => process.stop()))
        await redis.close()
      },
    }
  },
  facts({ ratio }) {
    const describe = (event: string, name: string) => {
      const gain = ratio('perSecond', `${event}-2`, `${event}-1`)
      const cost = ratio('cpuMicroseconds', `${event}-2`, `${event}-1`)
      return `${name}: two hosts do ${times(gain.median)} as many events (${times(gain.least)}–${times(gain.most)}) on this machine. An event costs the hosts ${times(cost.median)} of the processor time, so two hosts do ${times(2 / cost.median)} as many if the others run elsewhere.`
    }
    return [describe('health', 'HEALTH_CHECK'), describe('send', '`sendEmail`')]
  },
}
