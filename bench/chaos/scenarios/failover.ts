import { checkLoad, type Findings, tally } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { created, sendEmail } from '../events.ts'
import { startForwarder } from '../forwarder.ts'
import { startRedis } from '../redis.ts'
import type { Scenario, ScenarioOptions } from '../scenario.ts'
import { createSender } from '../sender.ts'
import { arranged, type HostProcess, type World } from '../world.ts'

const PER_SECOND = 20
/** How often the hosts are asked whether they are ready, in milliseconds. */
const ASK_MS = 250
const MINUTE_MS = 60_000
/** How long Redis is away, in milliseconds. */
const AWAY_MS = 3_000
const LONGEST_MS = 60_000

export const failover: Scenario = {
  name: 'failover',
  shows:
    'Redis fails over, is restarted or halts, and two hosts behind a balancer are restarted: nothing lost or twice',
  async run(found, options) {
    const store = await startStore()
    const host = { DELIVERY_STORE: store.location, DRAIN_DELAY_MS: '1500', CHAOS_LEASE_MS: '5000' }
    await arranged({ store: 'sqlite', hosts: [host, host] }, (world) =>
      disturb(world, found, store, options),
    ).finally(store.close)
  },
}

const portOf = ({ url }: { url: string }) => Number(new URL(url).port)

type Store = Awaited<ReturnType<typeof startStore>>

/** A primary and its replica, behind a forwarder that leads to the primary. */
async function startStore() {
  let primary = await startRedis()
  let replica = await startRedis()
  const forwarder = await startForwarder(() => portOf(primary))
  const replication = await startForwarder(() => portOf(primary))
  const follow = () => replica.ask('REPLICAOF', '127.0.0.1', String(replication.port))
  await follow()
  return {
    location: `redis://127.0.0.1:${forwarder.port}`,
    /** What happens to Redis, in turns. Each resolves when all is well. */
    disturbances: [
      async function failOver() {
        await primary.kill()
        replication.cut()
        await pause(AWAY_MS / 2)
        await replica.ask('REPLICAOF', 'NO', 'ONE')
        ;[primary, replica] = [replica, primary]
        forwarder.cut()
        await pause(AWAY_MS / 2)
        await replica.start()
        await follow()
      },
      async function restart() {
        await primary.kill()
        await pause(AWAY_MS)
        await primary.start()
      },
      async function halt() {
        primary.pause()
        await pause(AWAY_MS)
        primary.resume()
      },
    ],
    async close(): Promise<void> {
      for (const each of [forwarder, replication]) each.close()
      await Promise.all([primary, replica].map((server) => server.close()))
    },
  }
}

async function disturb(world: World, found: Findings, store: Store, options: ScenarioOptions) {
  const { hosts, journal, platform } = world
  const { violations, figures } = found
  const end = Date.now() + options.minutes * MINUTE_MS
  const watch = watchHosts(hosts)
  let turn = 0
  const balancer = await startForwarder(() => {
    // Without a ready host, balancers choose among all.
    const living = hosts.filter(({ process }) => process.alive)
    const chosen = watch.ready.size > 0 ? [...watch.ready] : living
    const host = chosen[turn++ % chosen.length]
    return host && portOf(host)
  })
  const sender = createSender([{ url: `http://127.0.0.1:${balancer.port}` }], journal)

  const endLoad = startLoad(PER_SECOND, async (number) => {
    const id = `evt_${number}`
    if (number % 10 === 0) platform.addDeployment({ id })
    const delivery = number % 10 === 0 ? created(id) : sendEmail(id)
    const first = await sender.untilFinal(delivery, LONGEST_MS)
    // The platform sends an event again although it was answered.
    await pause((number % 8) * 500)
    return [first, await sender.untilFinal(delivery, LONGEST_MS)].map((response) => ({ delivery, response }))
  })
  let disturbed = 0
  let restarts = 0
  const failing = (async () => {
    while (Date.now() + MINUTE_MS / 2 < end) {
      await pause(MINUTE_MS / 4 + Math.random() * (MINUTE_MS / 4))
      const happen = store.disturbances[disturbed++ % store.disturbances.length]
      await happen?.()
      options.say(`${happen?.name}, ${violations.length} violations`)
      await pause(MINUTE_MS / 4)
    }
  })()
  while (Date.now() + MINUTE_MS / 3 < end) {
    await pause(MINUTE_MS / 3)
    const host = hosts[restarts % hosts.length]
    const code = await host?.process.stop()
    if (code !== 0) violations.push(`restart ${restarts} ended with ${code}`)
    await host?.restart()
    restarts += 1
  }
  await failing
  await pause(5_000)
  checkLoad(world, found, (await endLoad()).flat())
  balancer.close()
  watch.end()
  const resets = journal.responses.filter(({ status }) => status === 0).length
  if (resets > 0) violations.push(`${resets} requests that were sent got no response`)
  Object.assign(figures, { disturbed, restarts })
  figures.responses = tally(journal.responses, ({ status, code }) => code ?? status)
}

/** Asks each host whether it is ready, as the probe of an orchestrator does. */
function watchHosts(hosts: readonly HostProcess[]) {
  const ready = new Set<HostProcess>()
  let isRunning = true
  async function watch(host: HostProcess): Promise<void> {
    while (isRunning) {
      const probe = { signal: AbortSignal.timeout(2_000) }
      const answer = await fetch(`${host.url}/readyz?store`, probe).catch(() => undefined)
      ready[answer?.ok ? 'add' : 'delete'](host)
      await pause(ASK_MS)
    }
  }
  for (const host of hosts) void watch(host)
  return {
    ready,
    end() {
      isRunning = false
    },
  }
}
