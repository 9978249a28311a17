/** A host between emulators with its metrics. */
import { createMetrics } from '../src/metrics.ts'
import { type StartOptions, startHost } from './hosted.ts'

/** One series of Prometheus. */
export interface Series {
  name: string
  labels: Partial<Record<string, string | number>>
  value: number
}

/** Starts a host with metrics. */
export function startMeasured(options: StartOptions = {}) {
  const started = startHost({ createMetrics, ...options })

  async function read(): Promise<Series[]> {
    const registry = await started.host.metrics?.load()
    const metrics = (await registry?.getMetricsAsJSON()) ?? []
    return metrics.flatMap(({ name, values }) =>
      values.map((each) => ({
        // Each series of a histogram has a name of its own.
        name: 'metricName' in each ? String(each.metricName) : name,
        labels: each.labels,
        value: each.value,
      })),
    )
  }

  return {
    ...started,
    read,
    /** The sum of the series with these labels. */
    async value(name: string, wanted: Record<string, string> = {}): Promise<number> {
      return (await read())
        .filter((series) => series.name === name)
        .filter(({ labels }) =>
          Object.entries(wanted).every(([label, word]) => String(labels[label]) === word),
        )
        .reduce((sum, { value }) => sum + value, 0)
    },
  }
}
