import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Claim, StoreWrite } from './dying-store.ts'
import { type HostProcess, type HostProcessOptions, startHost } from './host-process.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { createSender, type Sender } from './sender.ts'
import { type Outside, startOutside } from './world.ts'

export interface ScenarioOptions {
  /** Repeats the lives of a run. */
  seed: number
  /** The length of a scenario that has no length of its own. */
  minutes: number
  /** How often a scenario repeats each case. */
  seeds: number
  /** `outage` runs only the cases whose name has this text. */
  only: string
  say(line: string): void
}

export interface Findings {
  figures: Record<string, number | string>
  violations: string[]
}

export interface Scenario {
  name: string
  shows: string
  run(options: ScenarioOptions): Promise<Findings>
}

export interface World extends Outside {
  hosts: HostProcess[]
  sender: Sender
  redis: RedisServer | undefined
  /** Every write to the store, as the hosts report it. A scenario may empty the list. */
  storeWrites: StoreWrite[]
  /** Every claim that the hosts asked for. A scenario may empty the list. */
  claims: Claim[]
}

interface WorldOptions extends Pick<HostProcessOptions, 'leaseMs' | 'settleMs'> {
  /** The lease of the first host, if it has another one. */
  firstLeaseMs?: number
  store: 'redis' | 'sqlite'
  hosts: number
  environment?: Record<string, string>
}

/** Starts hosts and everything outside them, runs `body`, and ends what it has started. */
export async function arranged<Result>(
  { store, hosts: count, environment, ...options }: WorldOptions,
  body: (world: World) => Promise<Result>,
): Promise<Result> {
  const outside = await startOutside()
  const folder = mkdtempSync(join(tmpdir(), 'chaos-'))
  const redis = store === 'redis' ? await startRedis() : undefined
  const hosts: HostProcess[] = []
  const storeWrites: StoreWrite[] = []
  const claims: Claim[] = []
  const hostOptions = {
    ...options,
    onStoreWrite(write: StoreWrite) {
      storeWrites.push(write)
      if (write.phase === 'begins' && write.claim) claims.push(write.claim)
    },
    environment: {
      ...outside.variables,
      DELIVERY_STORE: redis?.url ?? `sqlite:${join(folder, 'deliveries.db')}`,
      ...environment,
    },
  }
  try {
    const start = async (_: unknown, index: number) => {
      const leaseMs = index === 0 ? (options.firstLeaseMs ?? options.leaseMs) : options.leaseMs
      hosts[index] = await startHost({ ...hostOptions, leaseMs })
    }
    await Promise.all(Array.from({ length: count }, start))
    const sender = createSender(hosts, outside.journal)
    return await body(Object.assign(outside, { hosts, sender, redis, storeWrites, claims }))
  } finally {
    for (const host of hosts) host.kill()
    await redis?.close()
    await outside.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Joins findings, each under its name. */
export function joined(named: Readonly<Record<string, Findings>>): Findings {
  const all = Object.entries(named)
  const figures = all.flatMap(([name, found]) =>
    Object.entries(found.figures).map(([what, figure]) => [`${name}: ${what}`, figure] as const),
  )
  const violations = all.flatMap(([name, found]) => found.violations.map((each) => `${name}: ${each}`))
  return { figures: Object.fromEntries(figures), violations }
}
