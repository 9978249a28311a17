import { megabytes, microseconds, milliseconds, seconds, times } from '../harness/format.ts'
import { interleave } from '../harness/interleave.ts'
import { startServer, startWorker } from '../harness/processes.ts'
import { ratioOf, spreadOf } from '../harness/ratio.ts'
import type { BenchmarkRow, RowContext, Verdict } from '../harness/row.ts'

const MAILS = 100_000
const PROVIDER_MS = 50
const ROUNDS = 3
const MOST_BYTES = 130e6

/** Sending many mails. */
export const bulkSend: BenchmarkRow = {
  id: 'bulk-send',
  title: `${MAILS.toLocaleString('en')} messages, the provider answering each call after ${PROVIDER_MS} ms`,
  method:
    '`postmark` as its documentation shows: the caller makes lists of 500 and sends them, one after another or 8 at a time. Ours is given the messages as one iterable, with default settings: as a batch that resolves with all results, and as a stream. Each round is a fresh process for each contender; the peak is of the whole process. The SDK is loaded before, everything else counts.',
  contenders: [
    { id: 'postmark', title: '`postmark`, one call at a time', kind: 'peer' },
    { id: 'postmark-8', title: '`postmark`, 8 in flight', kind: 'peer' },
    { id: 'ours', title: '`@org/mailer`, `sendEmails`', kind: 'ours' },
    { id: 'ours-streamed', title: '`@org/mailer`, `streamEmails`', kind: 'ours' },
  ],
  async run(context) {
    const valuesOf = await measureWays(context)
    const [wall, cpu, peak] = [valuesOf('wallMs'), valuesOf('cpuMicroseconds'), valuesOf('peakBytes')]
    const verdicts: Verdict[] = []
    const [time, one, eight] = [
      ratioOf(wall, 'ours', 'postmark'),
      ratioOf(cpu, 'ours', 'postmark'),
      ratioOf(cpu, 'ours', 'postmark-8'),
    ]
    if (time)
      verdicts.push({
        target: 'by default settings at most 0.15 × the time of `postmark` one at a time',
        measured: times(time.median),
        reached: time.median <= 0.15,
      })
    if (one && eight)
      verdicts.push({
        target: 'processor time at most 1.00 × `postmark`: one at a time; 8 in flight',
        measured: `${times(one.median)}; ${times(eight.median)}`,
        reached: Math.max(one.median, eight.median) <= 1,
      })
    const streamed = spreadOf(peak['ours-streamed']).median
    verdicts.push({
      target: `streamed: a peak of at most ${megabytes(MOST_BYTES)}`,
      measured: megabytes(streamed),
      reached: streamed <= MOST_BYTES,
    })
    return {
      figures: [
        {
          title: 'time',
          show: (ms) => (ms < 1_000 ? milliseconds(ms) : seconds(ms / 1_000)),
          samples: wall,
          against: ['postmark'],
        },
        {
          title: 'processor time a message',
          show: microseconds,
          samples: cpu,
          against: ['postmark', 'postmark-8'],
        },
        { title: 'peak memory', show: megabytes, samples: peak, against: [] },
      ],
      verdicts,
      facts: context.quick ? ['A quick run, with a tenth of the messages.'] : [],
    }
  },
}

async function measureWays({ arrangement, contenders, random, progress, quick }: RowContext) {
  const [program, providerProgram] = await Promise.all([
    arrangement.program('programs/bulk.ts'),
    arrangement.program('programs/provider.ts'),
  ])
  const provider = await startServer(providerProgram, '/server', {
    environment: { DELAY_MS: String(PROVIDER_MS) },
  })
  const valuesOf = await interleave({
    ids: contenders.map(({ id }) => id),
    rounds: quick ? 1 : ROUNDS,
    random,
    progress,
    async measure(id) {
      const worker = await startWorker(program, {
        parameters: [id, String(quick ? MAILS / 10 : MAILS), provider.url],
      })
      const cost = await worker.ask<Record<'wallMs' | 'cpuMicroseconds' | 'peakBytes', number>>({})
      await worker.end()
      return cost
    },
  })
  await provider.stop()
  return valuesOf
}
