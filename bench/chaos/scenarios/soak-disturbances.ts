import type { Fault } from '../../../packages/core/src/testing/index.ts'
import { pause } from '../clock.ts'
import type { HostProcess } from '../host-process.ts'
import type { Random } from '../random.ts'
import type { World } from '../run.ts'

const CALM_MS = 4_000

const providerFaults: readonly [Fault, ...Fault[]] = [
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
  const fail = ({ faults }: typeof mail | typeof idp) => {
    for (let count = 0; count < 3; count += 1) faults.add(random.pick(providerFaults))
  }
  const disturbances: Record<string, (host: HostProcess | undefined) => Promise<void>> = {
    async 'host killed'(host) {
      host?.kill()
      await host?.process.exit
      await pause(random.below(1_000))
      await host?.restart()
    },
    async 'host stopped by SIGTERM'(host) {
      await host?.process.stop()
      await host?.restart()
    },
    async 'host paused for twice its lease'(host) {
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
    'mail provider fails': async () => fail(mail),
    'identity provider fails': async () => fail(idp),
  }
  const names = Object.keys(disturbances)
  while (Date.now() < end) {
    await pause(random.below(CALM_MS))
    // In production, a supervisor restarts a host.
    for (const host of hosts) await host.restart()
    const name = names[random.below(names.length)] ?? ''
    journal.write({ kind: 'disturbance', what: name })
    await disturbances[name]?.(hosts[random.below(hosts.length)])
  }
  for (const emulator of [platform, mail, idp]) emulator.faults.clear()
}
