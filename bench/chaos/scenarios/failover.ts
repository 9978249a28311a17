import { sentTwice, tally, timesSent } from '../checks.ts'
import { pause, startLoad } from '../clock.ts'
import { created, sendEmail } from '../events.ts'
import { startForwarder } from '../forwarder.ts'
import type { HostProcess } from '../host-process.ts'
import { startRedis } from '../redis.ts'
import { arranged, type Findings, type Scenario, type ScenarioOptions, type World } from '../run.ts'
import { createSender, type Received } from '../sender.ts'

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
  async run(options) {
    const store = await startStore()
    try {
      const environment = { DELIVERY_STORE: store.location, DRAIN_DELAY_MS: '1500' }
      return await arranged({ store: 'sqlite', hosts: 2, leaseMs: 5_000, environment }, (world) =>
        disturb(world, store, options),
      )
    } finally {
      await store.close()
    }
  },
}

interface Store {
  location: string
  /** Kills the primary. Resolves when it is back as a replica. */
  failOver(): Promise<void>
  close(): Promise<void>
}

/** A primary and its replica, behind a forwarder that leads to the primary. */
async function startStore(): Promise<Store> {
  const portOf = ({ url }: { url: string }) => Number(new URL(url).port)
  let primary = await startRedis()
  let replica = await startRedis()
  const forwarder = await startForwarder(() => portOf(primary))
  const replication = await startForwarder(() => portOf(primary))
  const follow = () => replica.ask('REPLICAOF', '127.0.0.1', String(replication.port))
  await follow()
  return {
    location: `redis://127.0.0.1:${forwarder.port}`,
    async failOver() {
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
    async close() {
      for (const each of [forwarder, replication]) each.close()
      await Promise.all([primary, replica].map((server) => server.close()))
    },
  }
}

async function disturb(world: World, store: Store, { minutes, say }: ScenarioOptions): Promise<Findings> {
  const { hosts, journal, idp, platform } = world
  const violations: string[] = []
  const end = Date.now() + minutes * MINUTE_MS
  const watch = watchHosts(hosts, violations)
  let turn = 0
  const balancer = await startForwarder(() => {
    const ready = watch.ready()
    // Without a ready one, balancers choose among all.
    const chosen = ready.length > 0 ? ready : hosts.filter(({ process }) => process.alive)
    const host = chosen[turn++ % chosen.length]
    return host && Number(new URL(host.url).port)
  })
  const sender = createSender([{ url: `http://127.0.0.1:${balancer.port}` }], journal)

  const endLoad = startLoad(PER_SECOND, async (number) => {
    const id = `evt_${number}`
    const isCreation = number % 10 === 0
    if (isCreation) platform.addDeployment({ id })
    const delivery = isCreation ? created(id, id) : sendEmail(id)
    const deliver = () => sender.untilFinal(delivery, LONGEST_MS).catch((error: Error) => error)
    const responses: (Received | Error)[] = [await deliver()]
    // The platform sends an event again although it was answered.
    await pause((number % 8) * 500)
    return { id, isCreation, responses: [...responses, await deliver()] }
  })
  let failovers = 0
  let restarts = 0
  const failing = (async () => {
    while (Date.now() + MINUTE_MS / 2 < end) {
      await pause(MINUTE_MS / 4 + Math.random() * (MINUTE_MS / 4))
      await store.failOver()
      failovers += 1
      say(`failover ${failovers}, ${violations.length} violations`)
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
  const ended = await endLoad()
  watch.end()
  balancer.close()

  let unknown = 0
  for (const { id, isCreation, responses } of ended) {
    for (const each of responses) {
      if (each instanceof Error) violations.push(`${id}: ${each.message}`)
      else if (each.body.code === 'outcome_unknown') unknown += 1
      else if (each.status !== 200) violations.push(`${id}: ${JSON.stringify(each.body)}`)
    }
    const isDone = responses.some((each) => !(each instanceof Error) && each.status === 200)
    if (isDone && !isCreation && timesSent(world, id) === 0) violations.push(`${id}: lost`)
  }
  violations.push(...sentTwice(world))
  const surplus = idp.applications.size - platform.deployments.size
  if (surplus !== 0) violations.push(`${surplus} applications more than deployments`)
  const resets = journal.responses.filter(({ status }) => status === 0).length
  if (resets > 0) violations.push(`${resets} requests that were sent got no response`)
  return {
    figures: {
      events: ended.length,
      failovers,
      restarts,
      outcome_unknown: unknown,
      'longest time without a write, ms': watch.longest(),
      responses: tally(journal.responses, ({ status, code }) => code ?? status),
    },
    violations,
  }
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
      if (answer?.ok) ready.add(host)
      else ready.delete(host)
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
    ready: () => hosts.filter((host) => ready.has(host)),
    longest: () => longest,
    end() {
      isRunning = false
    },
  }
}
