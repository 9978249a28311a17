import { microseconds, times } from '../harness/format.ts'
import { ratioOf, spreadOf } from '../harness/ratio.ts'
import type { BenchmarkRow, Verdict } from '../harness/row.ts'
import { measureCalls } from './calls.ts'

const MOST_MICROSECONDS = 150

/** Reading a user. */
export const outboundCall: BenchmarkRow = {
  id: 'outbound-call',
  title: 'Processor time of one outbound call, 50 in flight',
  method:
    'Each contender reads one user (`GET /v1/users/{id}`) over HTTP from a provider in another process, 50 calls in flight, and checks the answer. Each is a process of its own; they are asked in turns, in a new order each round. Measured by `process.cpuUsage()` in the client. “With the host’s transport” is the client as the host calls it: its transport, its circuit breaker, and the signal of an event.',
  contenders: [
    { id: 'undici-request', title: '`undici.request`', kind: 'floor' },
    { id: 'fetch', title: 'global `fetch`', kind: 'floor' },
    { id: 'ky', title: 'ky over `fetch`', kind: 'floor' },
    { id: 'clerk', title: '`@clerk/backend`', kind: 'peer' },
    { id: 'ours', title: '`@org/idp`, plain `fetch`', kind: 'ours' },
    { id: 'ours-hosted', title: '`@org/idp`, the host’s transport', kind: 'ours' },
  ],
  async run(context) {
    const samples = await measureCalls('outbound-call', context)
    const hosted = spreadOf(samples['ours-hosted']).median
    const verdicts: Verdict[] = [
      {
        target: `with the host’s transport at most ${MOST_MICROSECONDS} µs`,
        measured: microseconds(hosted),
        reached: hosted <= MOST_MICROSECONDS,
      },
    ]
    for (const [id, how] of [
      ['ours', 'plain `fetch`'],
      ['ours-hosted', 'the host’s transport'],
    ] as const) {
      const ratio = ratioOf(samples, id, 'clerk')
      if (!ratio) continue
      verdicts.push({
        target: `never above \`@clerk/backend\`: ${how}`,
        measured: times(ratio.median),
        reached: ratio.median <= 1,
      })
    }
    const figure = { title: 'processor time', show: microseconds, samples, against: ['fetch', 'clerk'] }
    return { figures: [figure], verdicts, facts: [] }
  },
}
