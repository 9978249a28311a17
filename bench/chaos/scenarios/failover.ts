import { pause, startLoad } from '../../shared/clock.ts'
import { startForwarder } from '../../shared/network.ts'
import { checkLoad, type Findings, tally } from '../checks.ts'
import { created, sendEmail } from '../events.ts'
import { startRedis } from '../redis.ts'
import type { Scenario } from '../scenario.ts'
import { createSender } from '../sender.ts'
import { arranged, type HostProcess, type World } from '../world.ts'

const PER_SECOND = 20
/** How often the hosts are asked whether they are ready, and whether they write, in milliseconds. */
const ASK_MS = 250
/** Longest time in which a host may be ready and not write, in milliseconds. */
const LONGEST_LIE_MS = 5_000
const MINUTE_MS = 60_000
/** How long the promotion of a replica takes, in milliseconds. */
const PROMOTION_MS = 2_000
const LONGEST_MS = 60_000

export const failover: Scenario = {
  name: 'failover',
  shows:
    'each minute the primary dies, and two hosts behind a balancer are restarted in turn: nothing lost, nothing twice',
  atATime: 1,
  cases: ({ minutes }) => ({
    'two hosts': async (found) => {
      const store = await startStore()
      const host = { DELIVERY_STORE: store.location, DRAIN_DELAY_MS: '1500', CHAOS_LEASE_MS: '5000' }
      await arranged({ store: 'sqlite', hosts: [host, host] }, (world) =>
        disturb(world, found, store, Date.now() + minutes * MINUTE_MS),
      ).finally(store.close)
    },
  }),
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
    /** Kills the primary. Resolves when it is back as a replica. */
    async failOver(): Promise<void> {
      await primary.kill()
      replication.cut()
      await pause(PROMOTION_MS)
      await replica.ask('REPLICAOF', 'NO', 'ONE')
      ;[primary, replica] = [replica, primary]
      forwarder.cut()
      await pause(PROMOTION_MS)
      await replica.start()
      await follow()
    },
    async close(): Promise<void> {
      for (const each of [forwarder, replication]) each.close()
      await Promise.all([primary, replica].map((server) => server.close()))
    },
  }
}

async function disturb(world: World, found: Findings, store: Store, end: number) {
  const { hosts, journal, platform } = world
  const { violations, figures } = found
  const watch = watchHosts(hosts, violations)
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
  let failovers = 0
  let restarts = 0
  const failing = (async () => {
    while (Date.now() + MINUTE_MS / 2 < end) {
      await pause(MINUTE_MS / 4 + Math.random() * (MINUTE_MS / 4))
      await store.failOver()
      failovers += 1
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
  const resets = journal.responses.filter(({ status }) => status === 0).length
  if (resets > 0) violations.push(`${resets} requests that were sent got no response`)
  Object.assign(figures, { failovers, restarts, 'longest time without a write, ms': watch.end() })
  figures.responses = tally(journal.responses, ({ status, code }) => code ?? status)
}

/** Asks each host whether it is ready, as the probe of an orchestrator does, and for a write. */
function watchHosts(hosts: readonly HostProcess[], violations: string[]) {
  const ready = new Set<HostProcess>()
  const prober = createSender(hosts, { responses: [] })
  let isRunning = true
  let longest = 0

  async function watch(host: HostProcess, index: number): Promise<void> {
    let failingSince: number | undefined
    for (let number = 0; isRunning; number += 1) {
      const asked = performance.now()
      const probe = { signal: AbortSignal.timeout(2_000) }
      const answer = await fetch(`${host.url}/readyz?store`, probe).catch(() => undefined)
      ready[answer?.ok ? 'add' : 'delete'](host)
      const { status, body } = await prober.once(sendEmail(`probe_${index}_${number}`), index)
      const isFailing = status === 503 && body.code === 'overloaded'
      failingSince = isFailing ? (failingSince ?? asked) : undefined
      const forMs = failingSince === undefined ? 0 : Math.round(performance.now() - failingSince)
      longest = Math.max(longest, forMs)
      if (answer?.ok && forMs > LONGEST_LIE_MS) violations.push(`ready, but without a write for ${forMs} ms`)
      await pause(ASK_MS)
    }
  }
  hosts.forEach((host, index) => void watch(host, index))
  return {
    ready,
    /** Returns the longest time without a write. */
    end() {
      isRunning = false
      return longest
    },
  }
}
