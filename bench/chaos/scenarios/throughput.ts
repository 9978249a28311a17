import { availableParallelism } from 'node:os'
import { inParallel } from '../clock.ts'
import { health, sendEmail } from '../events.ts'
import { deliverCheaply } from '../load.ts'
import { type Arrangement, arranged, type Findings, type ScenarioOptions } from '../run.ts'
import type { Delivery } from '../sender.ts'

const ROUNDS = 5
const ROUND_MS = 3_000
const AT_A_TIME = 32

/** What a second host brings. */
export const throughput = {
  name: 'throughput',
  shows: 'signed events per second at one host and at two on one Redis, in turns',
  run: ({ seeds }: ScenarioOptions) =>
    arranged({ store: 'redis', hosts: 2 }, (arrangement) =>
      compareHosts(arrangement, { rounds: seeds > 1 ? ROUNDS : 1, roundMs: seeds > 1 ? ROUND_MS : 1_000 }),
    ),
}

interface Measured {
  perSecond: number
  /** Of the hosts, for one event. */
  processorMs: number
}

/** Measures one host and two in turns, so that whatever else the machine does befalls both. */
async function compareHosts(
  { hosts }: Arrangement,
  { rounds, roundMs }: { rounds: number; roundMs: number },
): Promise<Findings> {
  const violations: string[] = []
  let number = 0

  async function measure(make: (id: string) => Delivery, count: number): Promise<Measured> {
    const used = () => hosts.reduce((sum, host) => sum + host.processorMs(), 0)
    const [began, usedBefore] = [performance.now(), used()]
    let done = 0
    function* untilOver(): Generator<number> {
      while (performance.now() < began + roundMs) yield number++
    }
    await inParallel(untilOver(), AT_A_TIME, async (id) => {
      const status = await deliverCheaply(hosts[id % count]?.url ?? '', make(`evt_${id}`))
      if (status !== 200) violations.push(`evt_${id} was answered ${status}`)
      done += 1
    })
    const perSecond = (done * 1_000) / (performance.now() - began)
    return { perSecond, processorMs: (used() - usedBefore) / done }
  }

  const figures: Findings['figures'] = { processors: availableParallelism() }
  for (const [what, make] of [
    ['HEALTH_CHECK on /auth', (id: string) => health(id)],
    ['sendEmail', sendEmail],
  ] as const) {
    await measure(make, 2)
    const one: Measured[] = []
    const two: Measured[] = []
    for (let round = 0; round < rounds; round += 1) {
      one.push(await measure(make, 1))
      two.push(await measure(make, 2))
    }
    const gain = median(two, 'perSecond') / median(one, 'perSecond')
    figures[`${what}, one host`] = describe(one)
    figures[`${what}, two hosts`] = `${describe(two)}, ${gain.toFixed(2)} times as many`
  }
  return { figures, violations }
}

function describe(measured: readonly Measured[]): string {
  const processor = median(measured, 'processorMs').toFixed(2)
  return `${Math.round(median(measured, 'perSecond'))} per second, ${processor} ms of processor time each`
}

function median(measured: readonly Measured[], figure: keyof Measured): number {
  const values = measured.map((one) => one[figure]).toSorted((a, b) => a - b)
  return values[Math.floor(values.length / 2)] ?? 0
}
