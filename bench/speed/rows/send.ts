import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cert } from '../../../tooling/runtimes/certificate.ts'
import { microseconds, milliseconds, times } from '../../shared/format.ts'
import { createHttp2Gateway, listen, startForwarder } from '../../shared/network.ts'
import { startWorker, type WorkerProcess } from '../../shared/processes.ts'
import type { Row } from '../row.ts'

const ROUND_TRIP_MS = 40

interface Report {
  cpuMicroseconds: number
  p50: number
  p99: number
}

export const send: Row = {
  id: 'send',
  title: `One send over TLS, ${ROUND_TRIP_MS} ms away`,
  method: `Each contender sends one mail a call, over TLS and through a proxy that makes a round trip of ${ROUND_TRIP_MS} ms, and one more for each new connection. First 40 sends, one after another; then 400, 50 in flight.`,
  contenders: {
    kept: '`undici.request`, a kept connection',
    fresh: '`undici.request`, a new connection for each',
    http2: '`@org/mailer`, the host’s transport; HTTP/2 is offered',
    http1: '`@org/mailer`, the host’s transport; HTTP/1.1 alone',
  },
  rounds: 7,
  columns: {
    p50: { title: 'one send, p50', format: milliseconds, against: 'kept' },
    p99: { title: 'one send, p99', format: milliseconds },
    cpu: { title: 'processor time', format: microseconds, against: 'kept' },
    manyP50: { title: '50 in flight, p50', format: milliseconds },
    manyCpu: { title: '50 in flight, processor time', format: microseconds, against: 'kept' },
  },
  async start({ fixture, quick }) {
    const program = await fixture.program('send')
    const provider = await fixture.startProvider()
    const slow = (port: number) => startForwarder(() => port, { roundTripMs: ROUND_TRIP_MS })
    const http1 = await slow((await startForwarder(() => provider.port, { isSecure: true })).port)
    const http2 = await slow(await listen(createHttp2Gateway(() => provider.port)))
    const authority = join(fixture.folder, 'authority.pem')
    writeFileSync(authority, cert)
    const startClient = (contender: string, { port }: { port: number }) =>
      startWorker(program, {
        parameters: [contender, `https://127.0.0.1:${port}`],
        environment: { NODE_EXTRA_CA_CERTS: authority },
      })
    const clients: Record<string, WorkerProcess> = {
      kept: await startClient('kept', http1),
      fresh: await startClient('fresh', http1),
      http2: await startClient('ours', http2),
      http1: await startClient('ours', http1),
    }
    const sends = (id: string, calls: number, inFlight: number): Promise<Report> =>
      clients[id]?.ask({ calls, inFlight }) ?? Promise.reject(new Error(`There is no ${id}.`))
    return {
      warm: (id) => sends(id, quick ? 100 : 1_000, 50),
      async measure(id) {
        const one = await sends(id, quick ? 10 : 40, 1)
        const many = await sends(id, quick ? 100 : 400, 50)
        const { p50, p99, cpuMicroseconds: cpu } = one
        return { p50, p99, cpu, manyP50: many.p50, manyCpu: many.cpuMicroseconds }
      },
      stop: () => Promise.all([provider, ...Object.values(clients)].map((each) => each.stop())),
    }
  },
  targets: ({ ratio }) => [
    ['p50 over HTTP/2 × a kept connection', ratio('p50', 'http2', 'kept'), 'at most', 1.1, times],
    ['p50 over HTTP/1.1 × a new connection', ratio('p50', 'http1', 'fresh'), 'at most', 1.1, times],
  ],
}
