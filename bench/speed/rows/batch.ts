import { duration, megabytes, microseconds, times } from '../../shared/format.ts'
import { startWorker } from '../../shared/processes.ts'
import type { Row } from '../row.ts'

const MAILS = 100_000
const PROVIDER_MS = 50

export const batch: Row = {
  id: 'batch',
  title: `${MAILS.toLocaleString('en')} messages, the provider responding to each call after ${PROVIDER_MS} ms`,
  method:
    'The floor makes lists of 500 and posts them one after another. Ours gets the messages as one iterable, with default settings: as a batch that resolves with all results, and as a stream. Each contender runs in a fresh process each round. The SDK is loaded before; everything else counts. The peak is of the whole process. A quick run sends a tenth of the messages.',
  contenders: {
    floor: '`undici.request`, one call at a time',
    list: '`@org/mailer`, `sendEmails`',
    stream: '`@org/mailer`, `streamEmails`',
  },
  rounds: 3,
  columns: {
    wallMs: { title: 'time', format: duration, against: 'floor' },
    cpuMicroseconds: { title: 'processor time a message', format: microseconds, against: 'floor' },
    peakBytes: { title: 'peak memory', format: megabytes },
  },
  async start({ fixture, quick }) {
    const program = await fixture.program('batch')
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
  targets: ({ median, ratio }) => [
    ['time × one call at a time', ratio('wallMs', 'list', 'floor'), 'at most', 0.15, times],
    ['peak of a stream', median('peakBytes', 'stream'), 'at most', 130e6, megabytes],
  ],
}
