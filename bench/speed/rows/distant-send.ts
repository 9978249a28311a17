import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { microseconds, milliseconds, times } from '../../shared/format.ts'
import { startWorker } from '../../shared/processes.ts'
import { type Row, target } from '../row.ts'
import { startSlowNetwork } from '../slow-network.ts'

const ROUND_TRIP_MS = 40

interface Report {
  cpuMicroseconds: number
  p50: number
  p99: number
}

const OURS = [
  { id: 'hosted', where: 'HTTP/2 is offered' },
  { id: 'hosted-alone', where: 'HTTP/1.1 alone' },
]

export const distantSend: Row = {
  id: 'distant-send',
  title: `One send over TLS, ${ROUND_TRIP_MS} ms away`,
  method: `Each contender sends one mail a call, over TLS and through a proxy that makes a round trip of ${ROUND_TRIP_MS} ms, and one more for each new connection. First 40 sends, one after another; then 400, 50 in flight. The provider offers HTTP/1.1; to one line of ours it offers HTTP/2, which no peer speaks.`,
  contenders: [
    { id: 'undici-request', title: '`undici.request`', kind: 'floor' },
    { id: 'undici-fresh', title: '`undici.request`, a new connection for each', kind: 'floor' },
    { id: 'postmark', title: '`postmark`', kind: 'peer' },
    ...OURS.map(({ id, where }) => ({
      id,
      title: `\`@org/mailer\`, the host’s transport; ${where}`,
      kind: 'ours' as const,
    })),
  ],
  rounds: 7,
  columns: [
    { value: 'p50', title: 'one send, p50', format: milliseconds, against: ['undici-request'] },
    { value: 'p99', title: 'one send, p99', format: milliseconds },
    { value: 'cpu', title: 'processor time', format: microseconds, against: ['postmark'] },
    { value: 'manyP50', title: '50 in flight, p50', format: milliseconds },
    { value: 'manyP99', title: '50 in flight, p99', format: milliseconds },
    {
      value: 'manyCpu',
      title: '50 in flight, processor time',
      format: microseconds,
      against: ['postmark'],
    },
  ],
  async start({ fixture, contenders, quick }) {
    const caller = await fixture.program('caller')
    const provider = await fixture.startProvider()
    const network = await startSlowNetwork(provider.port, ROUND_TRIP_MS)
    const http2 = await startSlowNetwork(provider.port, ROUND_TRIP_MS, { offersHttp2: true })
    const authority = join(fixture.folder, 'authority.pem')
    writeFileSync(authority, cert)
    const workers = new Map(
      await Promise.all(
        contenders.map(async ({ id }) => {
          const { port } = id === 'hosted' ? http2 : network
          const url = `https://127.0.0.1:${port}`
          const environment = { NODE_EXTRA_CA_CERTS: authority }
          const options = { parameters: [id, url], environment }
          return [id, await startWorker(caller, options)] as const
        }),
      ),
    )
    const send = (id: string, calls: number, inFlight: number): Promise<Report> =>
      workers.get(id)?.ask({ calls, inFlight }) ?? Promise.reject(new Error(`No worker for ${id}.`))
    return {
      warm: (id) => send(id, quick ? 100 : 1_000, 50),
      async measure(id) {
        const one = await send(id, quick ? 10 : 40, 1)
        const many = await send(id, quick ? 100 : 400, 50)
        return {
          p50: one.p50,
          p99: one.p99,
          cpu: one.cpuMicroseconds,
          manyP50: many.p50,
          manyP99: many.p99,
          manyCpu: many.cpuMicroseconds,
        }
      },
      stop: () => Promise.all([provider, network, http2, ...workers.values()].map((each) => each.stop())),
    }
  },
  targets: ({ ratio }) => [
    ...OURS.flatMap(({ id, where }) => [
      target(
        `p50 of one send at most 1.10 × of a kept connection: ${where}`,
        ratio('p50', id, 'undici-request').median,
        1.1,
        times,
      ),
      target(
        `processor time at most 1.00 × of \`postmark\`: ${where}, one after another`,
        ratio('cpu', id, 'postmark').median,
        1,
        times,
      ),
      target(`${where}, 50 in flight`, ratio('manyCpu', id, 'postmark').median, 1, times),
    ]),
  ],
}
