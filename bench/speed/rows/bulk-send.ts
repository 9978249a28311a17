import { duration, megabytes, microseconds, times } from '../../shared/format.ts'
import { startWorker } from '../../shared/processes.ts'
import { medianTarget, type Row, ratioTarget } from '../row.ts'

const MAILS = 100_000
const PROVIDER_MS = 50
const MOST_BYTES = 130e6

export const bulkSend: Row = {
  id: 'bulk-send',
  title: `${MAILS.toLocaleString('en')} messages, the provider answering each call after ${PROVIDER_MS} ms`,
  method:
    '`postmark` as its documentation shows: the caller makes lists of 500 and sends them, one after another or 8 at a time. Ours gets the messages as one iterable, with default settings: as a batch that resolves with all results, and as a stream. Each contender runs in a fresh process each round. The SDK is loaded before; everything else counts. The peak is of the whole process. A quick run sends a tenth of the messages.',
  contenders: [
    { id: 'postmark', title: '`postmark`, one call at a time', kind: 'peer' },
    { id: 'postmark-8', title: '`postmark`, 8 in flight', kind: 'peer' },
    { id: 'ours', title: '`@org/mailer`, `sendEmails`', kind: 'ours' },
    { id: 'ours-streamed', title: '`@org/mailer`, `streamEmails`', kind: 'ours' },
  ],
  rounds: 3,
  columns: [
    { value: 'wallMs', title: 'time', format: duration, against: ['postmark'] },
    {
      value: 'cpuMicroseconds',
      title: 'processor time a message',
      format: microseconds,
      against: ['postmark', 'postmark-8'],
    },
    { value: 'peakBytes', title: 'peak memory', format: megabytes },
  ],
  async start({ fixture, quick }) {
    const program = await fixture.program('bulk')
    const provider = await fixture.startProvider(PROVIDER_MS)
    const mails = String(quick ? MAILS / 10 : MAILS)
    return {
      async measure(id) {
        const worker = await startWorker(program, { parameters: [id, mails, provider.url] })
        const cost = await worker.ask<Record<'wallMs' | 'cpuMicroseconds' | 'peakBytes', number>>({})
        await worker.stop()
        return cost
      },
      stop: provider.stop,
    }
  },
  targets({ spread, ratio }) {
    const one = ratio('cpuMicroseconds', 'ours', 'postmark')
    const eight = ratio('cpuMicroseconds', 'ours', 'postmark-8')
    return [
      ratioTarget(
        'by default settings at most 0.15 × the time of `postmark` one at a time',
        ratio('wallMs', 'ours', 'postmark'),
        0.15,
      ),
      {
        target: 'processor time at most 1.00 × `postmark`: one at a time; 8 in flight',
        measured: `${times(one.median)}; ${times(eight.median)}`,
        reached: Math.max(one.median, eight.median) <= 1,
      },
      medianTarget(
        `streamed: a peak of at most ${megabytes(MOST_BYTES)}`,
        spread('peakBytes', 'ours-streamed'),
        MOST_BYTES,
        megabytes,
      ),
    ]
  },
}
