/**
 * A host between emulators with its metrics.
 */
import { type DeliverOptions, deliver } from '@org/core/testing'
import { createMetrics } from '../src/metrics.ts'
import { createWorld, credentials } from './hosted.ts'

/** One line of Prometheus' text format. */
export interface Series {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

function readSeries(text: string): Series[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)]
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, label = '', word = '']) => [label, word])),
        value: Number(value),
      }
    })
}

/** Starts a host with metrics. */
export function startMeasured(options: Parameters<ReturnType<typeof createWorld>['start']>[0] = {}) {
  const world = createWorld()
  const host = world.start({ createMetrics, ...options })
  const get = (path: string, headers: Record<string, string> = {}) =>
    host.fetch(new Request(`http://host.test${path}`, { headers }))
  const read = async () => readSeries(await (await get('/metrics')).text())
  return {
    world,
    host,
    get,
    read,
    send: (route: string, event: unknown, delivery: DeliverOptions = {}) =>
      deliver(host.fetch, event, { url: `http://host.test/${route}/webhook`, ...delivery }),
    /** The value of the series with these labels, or 0. */
    async value(name: string, labels: Record<string, string> = {}): Promise<number> {
      const fits = (series: Series) =>
        series.name === name && Object.entries(labels).every(([label, word]) => series.labels[label] === word)
      return (await read()).filter(fits).reduce((sum, { value }) => sum + value, 0)
    },
  }
}

/** A call of a function. */
export const calling = (name: string, args: object = {}) => ({
  name: 'FUNCTION_CALL',
  functionCall: { name, arguments: args },
})

export const mail = { to: 'ada@example.com', subject: 'Hi', textBody: 'x' }

/** A deployment of the mailer that brings a server of its own. */
export const mailDeployment = (id: string, baseUrl?: string) => ({
  id,
  inputs: {
    serverType: 'dedicated',
    apiToken: credentials.tenantMailToken,
    fromEmail: 'shop@example.com',
    ...(baseUrl && { baseUrl }),
  },
})
