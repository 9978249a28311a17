/** Load on servers, and what one event costs them. */
import { type ServerProcess, usageOf, type WorkerProcess } from '../shared/processes.ts'
import type { LoadOrder, LoadReport } from './programs/generator.ts'

/**
 * Sends events to servers at the same time, each from a generator of its own.
 *
 * @throws if a response has another status than 200
 */
export async function loadServers(
  servers: readonly ServerProcess[],
  generators: readonly WorkerProcess[],
  order: Omit<LoadOrder, 'port'>,
) {
  const used = () => sum(servers.map((server) => usageOf(server).cpuMs))
  const before = used()
  const reports = await Promise.all(
    servers.map(({ port }, at) => {
      const generator = generators[at]
      if (!generator) throw new Error('Each server needs a generator.')
      return generator.ask<LoadReport>({ ...order, port, connections: order.connections / servers.length })
    }),
  )
  const cpuMs = used() - before
  const done = sum(reports.map((report) => report.done))
  const succeeded = sum(reports.map(({ statuses }) => statuses['200'] ?? 0))
  if (succeeded !== done)
    throw new Error(`Not every status is 200: ${JSON.stringify(reports.map(({ statuses }) => statuses))}.`)
  return {
    perSecond: sum(reports.map((report) => (report.done * 1_000) / report.wallMs)),
    /** Processor time of the servers for one event. */
    cpuMicroseconds: (cpuMs * 1_000) / done,
    /** The busiest generator, as a share of one core. */
    generatorShare: Math.max(...reports.map(({ cpuShare }) => cpuShare)),
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
