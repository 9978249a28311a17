import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { pause } from '../clock.ts'
import type { Random } from '../random.ts'
import type { World } from '../run.ts'

/** The longest time between two disturbances. */
const CALM_MS = 4_000

/** Faults of a provider. */
const faults: readonly [Fault, ...Fault[]] = [
  { cut: 'before' },
  { cut: 'after' },
  { cut: 'during' },
  { status: 500 },
  { status: 503, takesEffect: true },
  { status: 429, headers: { 'retry-after': '1' } },
  { hang: 'after' },
  { hang: true },
  { delayMs: 500 },
]

/** Disturbs the hosts, the store, the platform and the providers, one after another, until `end`. */
export async function disturb(
  world: World,
  { random, leaseMs, end }: { random: Random; leaseMs: number; end: number },
): Promise<void> {
  const { hosts, redis, platform, mail, idp, journal } = world
  const anyHost = () => hosts[random.below(hosts.length)]
  const disturbances: Record<string, () => Promise<void>> = {
    async 'host killed'() {
      const host = anyHost()
      host?.kill()
      await host?.process.exit
      await pause(random.below(1_000))
      await host?.restart()
    },
    async 'host stopped by SIGTERM'() {
      const host = anyHost()
      await host?.process.stop()
      await host?.restart()
    },
    async 'host paused for twice its lease'() {
      const host = anyHost()
      host?.pause()
      await pause(2 * leaseMs)
      host?.resume()
    },
    async 'all hosts killed'() {
      for (const host of hosts) host.kill()
      await Promise.all(hosts.map((host) => host.process.exit))
      await Promise.all(hosts.map((host) => host.restart()))
    },
    async 'Redis killed'() {
      await redis?.kill()
      await pause(random.below(2_000))
      await redis?.start()
    },
    async 'Redis paused'() {
      redis?.pause()
      await pause(random.below(2_000))
      redis?.resume()
    },
    async 'platform away'() {
      platform.faults.add({ status: 503, times: Number.POSITIVE_INFINITY })
      await pause(random.below(2_000))
      platform.faults.clear()
    },
    async 'mail provider fails'() {
      for (let count = 0; count < 3; count += 1) mail.faults.add({ method: 'POST', ...random.pick(faults) })
    },
    async 'identity provider fails'() {
      for (let count = 0; count < 3; count += 1) idp.faults.add(random.pick(faults))
    },
  }
  const names = Object.keys(disturbances)
  while (Date.now() < end) {
    await pause(random.below(CALM_MS))
    // In production, a supervisor restarts a host.
    for (const host of hosts) await host.restart()
    const name = names[random.below(names.length)] ?? ''
    journal.write({ kind: 'disturbance', what: name })
    await disturbances[name]?.()
  }
  for (const emulator of [platform, mail, idp]) emulator.faults.clear()
}
