import { microseconds, times } from '../harness/format.ts'
import { ratioOf } from '../harness/ratio.ts'
import type { BenchmarkRow } from '../harness/row.ts'
import { measureCalls } from './calls.ts'

const targets = [
  ['ours', 'the SDK alone, plain `fetch`', 1],
  ['ours-hosted', 'the host’s transport', 0.6],
] as const

/** Sending one mail. */
export const singleSend: BenchmarkRow = {
  id: 'single-send',
  title: 'Processor time of one single send, 50 in flight',
  method:
    'As above, with one mail a call (`POST /email`; `POST /emails` for `resend`), which the provider answers at once.',
  contenders: [
    { id: 'undici-request', title: '`undici.request`', kind: 'floor' },
    { id: 'undici-fresh', title: '`undici.request`, a new connection for each', kind: 'floor' },
    { id: 'fetch', title: 'global `fetch`', kind: 'floor' },
    { id: 'ky', title: 'ky over `fetch`', kind: 'floor' },
    { id: 'postmark', title: '`postmark`', kind: 'peer' },
    { id: 'resend', title: '`resend`', kind: 'peer' },
    { id: 'ours', title: '`@org/mailer`, plain `fetch`', kind: 'ours' },
    { id: 'ours-hosted', title: '`@org/mailer`, the host’s transport', kind: 'ours' },
  ],
  async run(context) {
    const samples = await measureCalls('single-send', context)
    const verdicts = targets.flatMap(([id, how, most]) => {
      const ratio = ratioOf(samples, id, 'postmark')
      return ratio
        ? {
            target: `at most ${times(most)} of \`postmark\`: ${how}`,
            measured: times(ratio.median),
            reached: ratio.median <= most,
          }
        : []
    })
    const figure = { title: 'processor time', show: microseconds, samples, against: ['fetch', 'postmark'] }
    return { figures: [figure], verdicts, facts: [] }
  },
}
