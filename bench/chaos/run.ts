import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreWrite } from './dying-store.ts'
import { type HostProcess, type HostProcessOptions, startHost } from './host-process.ts'
import { createRandom, type Random } from './random.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { createSender, type Sender } from './sender.ts'
import { createWorld, type World } from './world.ts'

/** What a scenario is started with. */
export interface ScenarioOptions {
  seed: number
  random: Random
  /** How long a scenario that can be of any length lasts. */
  minutes: number
  /** How often each thing is tried, where that can be chosen. */
  seeds: number
  say(line: string): void
}

/** What came of a scenario. */
export interface Findings {
  /** What was counted, by name. */
  figures: Record<string, number | string>
  /** Everything that must not have happened; empty is good. */
  violations: string[]
}

/** One thing to be shown. */
export interface Scenario {
  name: string
  shows: string
  run(options: ScenarioOptions): Promise<Findings>
}

/** A world with hosts in it. */
export interface Arrangement extends World {
  hosts: HostProcess[]
  sender: Sender
  /** Where the store is one. */
  redis: RedisServer | undefined
  /** Every write to the store, as the hosts told it; a scenario may empty it. */
  storeWrites: StoreWrite[]
}

/** How a world is arranged. */
export interface ArrangementOptions extends Pick<HostProcessOptions, 'leaseMs' | 'settleMs'> {
  store: 'redis' | 'sqlite'
  hosts: number
  random?: Random
  environment?: Record<string, string>
}

/** Starts a world with hosts, runs `body` in it, and ends everything that it started, whatever happens. */
export async function arranged<Result>(
  { store, hosts: count, random = createRandom(1), environment = {}, ...options }: ArrangementOptions,
  body: (arrangement: Arrangement) => Promise<Result>,
): Promise<Result> {
  const world = await createWorld()
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
  const redis = store === 'redis' ? await startRedis() : undefined
  const hosts: HostProcess[] = []
  const storeWrites: StoreWrite[] = []
  const onStoreWrite = (write: StoreWrite) => void storeWrites.push(write)
  try {
    const common = world.environment(redis?.url ?? `sqlite:${join(folder, 'deliveries.db')}`)
    const started = await Promise.allSettled(
      Array.from({ length: count }, () =>
        startHost({ ...options, onStoreWrite, environment: { ...common, ...environment } }),
      ),
    )
    for (const start of started) {
      if (start.status === 'rejected') throw start.reason
      hosts.push(start.value)
    }
    const sender = createSender(hosts, world.journal, random)
    return await body(Object.assign(world, { hosts, sender, redis, storeWrites }))
  } finally {
    for (const host of hosts) host.kill()
    await redis?.close()
    await world.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
