import { microseconds, times } from '../../shared/format.ts'
import { startWorker } from '../../shared/processes.ts'
import { type Row, type RowContext, type StartedRow, target } from '../row.ts'

const IN_FLIGHT = 50
const MOST_MICROSECONDS = 150

async function startCallers(row: string, { fixture, contenders, quick }: RowContext): Promise<StartedRow> {
  const caller = await fixture.program('caller')
  const provider = await fixture.startProvider()
  const workers = new Map(
    await Promise.all(
      contenders.map(async ({ id }) => {
        return [id, await startWorker(caller, { parameters: [row, id, provider.url] })] as const
      }),
    ),
  )
  async function call(id: string, calls: number): Promise<{ cpuMicroseconds: number }> {
    const report = await workers.get(id)?.ask<{ cpuMicroseconds: number }>({ calls, inFlight: IN_FLIGHT })
    if (!report) throw new Error(`No worker for ${id}.`)
    return { cpuMicroseconds: report.cpuMicroseconds }
  }
  return {
    warm: (id) => call(id, quick ? 500 : 6_000),
    measure: (id) => call(id, quick ? 300 : 1_500),
    stop: () => Promise.all([provider, ...workers.values()].map((process) => process.stop())),
  }
}

type CallRow = Pick<Row, 'id' | 'title' | 'method' | 'contenders' | 'targets'> & { peer: string }

const createRow = ({ peer, ...row }: CallRow): Row => ({
  rounds: 15,
  columns: [
    { value: 'cpuMicroseconds', title: 'processor time', format: microseconds, against: ['fetch', peer] },
  ],
  start: (context) => startCallers(row.id, context),
  ...row,
})

export const outboundCall = createRow({
  id: 'outbound-call',
  title: 'Processor time of one outbound call, 50 in flight',
  method:
    'Each contender reads one user (`GET /v1/users/{id}`) over HTTP from a provider in another process, 50 calls in flight, and checks the response. Each contender has a process of its own, and they take turns in a new order each round. The client’s own `process.cpuUsage()` is measured. “The host’s transport” is the client as the host calls it: with its transport, its circuit breaker, and the signal of an event.',
  peer: 'clerk',
  contenders: [
    { id: 'undici-request', title: '`undici.request`', kind: 'floor' },
    { id: 'fetch', title: 'global `fetch`', kind: 'floor' },
    { id: 'ky', title: 'ky over `fetch`', kind: 'floor' },
    { id: 'clerk', title: '`@clerk/backend`', kind: 'peer' },
    { id: 'ours', title: '`@org/idp`, plain `fetch`', kind: 'ours' },
    { id: 'ours-hosted', title: '`@org/idp`, the host’s transport', kind: 'ours' },
  ],
  targets({ spread, ratio }) {
    const { median } = spread('cpuMicroseconds', 'ours-hosted')
    const limit = `with the host’s transport at most ${MOST_MICROSECONDS} µs`
    const againstClerk = (id: string, transport: string) => {
      const { median } = ratio('cpuMicroseconds', id, 'clerk')
      return target(`never above \`@clerk/backend\`: ${transport}`, median, 1, times)
    }
    return [
      target(limit, median, MOST_MICROSECONDS, microseconds),
      againstClerk('ours', 'plain `fetch`'),
      againstClerk('ours-hosted', 'the host’s transport'),
    ]
  },
})

export const singleSend = createRow({
  id: 'single-send',
  title: 'Processor time of one single send, 50 in flight',
  method:
    'As above, with one mail a call (`POST /email`; `POST /emails` for `resend`), to which the provider responds at once.',
  peer: 'postmark',
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
  targets({ ratio }) {
    const againstPostmark = (id: string, transport: string, most: number) => {
      const { median } = ratio('cpuMicroseconds', id, 'postmark')
      return target(`at most ${times(most)} of \`postmark\`: ${transport}`, median, most, times)
    }
    return [
      againstPostmark('ours', 'the SDK alone, plain `fetch`', 1),
      againstPostmark('ours-hosted', 'the host’s transport', 0.6),
    ]
  },
})
